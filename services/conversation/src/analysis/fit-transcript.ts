import type { EndsBounds } from "../store/transcript-ends.ts";
import { byteBudget, estimateTokens, TOKENS_PER_MESSAGE } from "../turn/context-window.ts";

/** What of the room the beginning gets: why a conversation was begun. How it ended, most analyses ask for. */
const BEGINNING_SHARE = 1 / 4;
/** No single line takes more of the room. */
const LINE_SHARE = 1 / 8;

/** One message of a transcript as the model reads it. */
export interface TranscriptLine {
  seq: number;
  text: string;
}

/** What to read of a transcript to fill a room of `tokens`: everything that `fitTranscript` may keep. */
export function readBounds(tokens: number): EndsBounds {
  const bytes = byteBudget(tokens);
  return {
    beginningBytes: bytes * BEGINNING_SHARE,
    endBytes: bytes,
    messageBytes: Math.ceil(bytes * LINE_SHARE),
    overheadBytes: byteBudget(TOKENS_PER_MESSAGE),
  };
}

/**
 * The lines that fit, in their order: the first ones and, with most of the room, the last; a note says how many are left out
 * between them. A line that alone would take too much is cut in its middle.
 */
export function fitTranscript(lines: readonly TranscriptLine[], tokensMax: number): string[] {
  const cut = lines.map(({ text }) => cutLine(text, tokensMax * LINE_SHARE));
  const costs = cut.map(estimateTokens);
  if (costs.reduce((sum, cost) => sum + cost, 0) <= tokensMax) return cut;
  let left = tokensMax;
  let end = 0;
  while ((costs[end] ?? 0) <= left - tokensMax * (1 - BEGINNING_SHARE)) left -= costs[end++] ?? 0;
  let start = cut.length;
  while (start > end && (costs[start - 1] ?? 0) <= left) left -= costs[--start] ?? 0;
  return [...cut.slice(0, end), `[${leftOut(lines, end, start)} messages left out]`, ...cut.slice(start)];
}

/** @param end of the lines that are kept at the beginning @param start of those at the end */
function leftOut(lines: readonly TranscriptLine[], end: number, start: number): number {
  const before = lines[end - 1]?.seq ?? 0;
  const after = lines[start]?.seq ?? (lines.at(-1)?.seq ?? 0) + 1;
  return after - before - 1;
}

function cutLine(line: string, tokensMax: number): string {
  const tokens = estimateTokens(line);
  if (tokens <= tokensMax) return line;
  const half = Math.floor((line.length * tokensMax) / tokens / 2);
  return `${line.slice(0, half)} […] ${line.slice(-half)}`.toWellFormed();
}
