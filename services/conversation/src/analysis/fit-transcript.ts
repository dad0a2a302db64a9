import type { EndsBounds } from "../store/transcript-ends.ts";
import { byteBudget, estimateTokens, TOKENS_PER_MESSAGE } from "../turn/ask/context-window.ts";

/** The beginning's share of the tokens: it says why the conversation started, but most analyses ask how it ended. */
const BEGINNING_SHARE = 1 / 4;
/** The most that a single line may take. */
const LINE_SHARE = 1 / 8;

/** One message of a transcript as the model reads it. */
interface TranscriptLine {
  seq: number;
  text: string;
}

/** How much of a transcript to read for a budget of `tokens`: everything that `fitTranscript` could keep. */
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
 * Returns the lines that fit, in order: the first ones and, with most of the budget, the last ones, with a note between
 * them that says how many are left out. Shortens a line in its middle when it alone would take too much.
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

/** @param end index after the lines kept at the beginning @param start index of the first line kept at the end */
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
