import { estimateTokens } from "../context-window.ts";

/** What of the room the beginning gets: why a conversation was begun. How it ended, most analyses ask for. */
const BEGINNING_SHARE = 1 / 4;
/** No single line takes more of the room. */
const LINE_SHARE = 1 / 8;

/**
 * The lines that fit, in their order: the first ones and, with most of the room, the last; a note says how many are left out
 * between them. A line that alone would take too much is cut in its middle.
 */
export function fitTranscript(lines: readonly string[], tokensMax: number): string[] {
  const cut = lines.map((line) => cutLine(line, tokensMax * LINE_SHARE));
  const costs = cut.map(estimateTokens);
  if (costs.reduce((sum, cost) => sum + cost, 0) <= tokensMax) return cut;
  let left = tokensMax;
  let end = 0;
  while ((costs[end] ?? 0) <= left - tokensMax * (1 - BEGINNING_SHARE)) left -= costs[end++] ?? 0;
  let start = cut.length;
  while (start > end && (costs[start - 1] ?? 0) <= left) left -= costs[--start] ?? 0;
  return [...cut.slice(0, end), `[${start - end} messages left out]`, ...cut.slice(start)];
}

function cutLine(line: string, tokensMax: number): string {
  const tokens = estimateTokens(line);
  if (tokens <= tokensMax) return line;
  const half = Math.floor((line.length * tokensMax) / tokens / 2);
  return `${line.slice(0, half)} […] ${line.slice(-half)}`.toWellFormed();
}
