import { formatPatch, OMIT_HEADERS, type StructuredPatchHunk, structuredPatch } from "diff";

interface Titled {
  /** How the text is called in the head of the diff. */
  title: string;
  text: string;
}

/** Unchanged lines around a change. */
const CONTEXT = 3;
/** Changed lines up to which they are compared one by one, which takes the square of their number. */
const COMPARED_MAX = 500;

/**
 * What changed between two texts, in the unified format; empty if nothing did. If more than 500 lines changed, all from
 * the first change to the last stand as replaced.
 */
export async function unifiedDiff(from: Titled, to: Titled): Promise<string> {
  if (from.text === to.text) return "";
  const hunks = (await comparedHunks(from.text, to.text)) ?? [replacement(linesOf(from.text), linesOf(to.text))];
  const names = { oldFileName: from.title, newFileName: to.title, oldHeader: "", newHeader: "" };
  const body = formatPatch({ ...names, hunks }, OMIT_HEADERS);
  return `--- ${from.title}\n+++ ${to.title}\n${body}`;
}

/** Returns null if too much differs. Other work is done in between. */
function comparedHunks(from: string, to: string): Promise<StructuredPatchHunk[] | null> {
  return new Promise((resolve) => {
    structuredPatch("", "", from, to, undefined, undefined, {
      context: CONTEXT,
      maxEditLength: COMPARED_MAX,
      callback: (patch) => resolve(patch?.hunks ?? null),
    });
  });
}

function replacement(from: readonly string[], to: readonly string[]): StructuredPatchHunk {
  const shorter = Math.min(from.length, to.length);
  let head = 0;
  while (head < shorter && from[head] === to[head]) head++;
  let tail = 0;
  while (tail < shorter - head && from.at(-1 - tail) === to.at(-1 - tail)) tail++;
  const start = Math.max(0, head - CONTEXT);
  const after = Math.min(tail, CONTEXT);
  const [fromEnd, toEnd] = [from.length - tail, to.length - tail];
  return {
    oldStart: start + 1,
    oldLines: fromEnd + after - start,
    newStart: start + 1,
    newLines: toEnd + after - start,
    lines: [
      ...from.slice(start, head).flatMap((line) => marked(" ", line)),
      ...from.slice(head, fromEnd).flatMap((line) => marked("-", line)),
      ...to.slice(head, toEnd).flatMap((line) => marked("+", line)),
      ...to.slice(toEnd, toEnd + after).flatMap((line) => marked(" ", line)),
    ],
  };
}

/** Each with its line feed, if it has one. */
function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function marked(mark: " " | "-" | "+", line: string): string[] {
  return line.endsWith("\n") ? [mark + line.slice(0, -1)] : [mark + line, "\\ No newline at end of file"];
}
