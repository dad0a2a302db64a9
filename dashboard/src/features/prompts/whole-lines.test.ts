import { expect, test } from "bun:test";
import { Chunk } from "@codemirror/merge";
import { Text } from "@codemirror/state";
import { wholeLines } from "./whole-lines.ts";

const textOf = (text: string) => Text.of(wholeLines(text).split("\n"));

/** The lines that a comparison marks, before and after. */
function marked(before: string, after: string): string[][] {
  const [a, b] = [textOf(before), textOf(after)];
  const within = (text: Text, from: number, to: number) => text.sliceString(from, Math.min(to, text.length));
  const sides = Chunk.build(a, b).map(({ fromA, toA, fromB, toB }) => [within(a, fromA, toA), within(b, fromB, toB)]);
  return sides.map((side) => side.map((text) => text.replace(/\n$/, "")));
}

test.each([
  ["lines are added at the end", "Ada.\nBrief.", "Ada.\nBrief.\nKind.", ["", "Kind."]],
  ["lines are removed at the end", "Ada.\nBrief.", "Ada.", ["Brief.", ""]],
  ["lines are added in between", "Ada.\nKind.", "Ada.\nBrief.\nKind.", ["", "Brief."]],
  ["only the last line ends otherwise", "Ada.", "Ada.\n", null],
])("no unchanged line is marked when %s", (_case, before, after, expected) => {
  expect(marked(before, after)).toEqual(expected ? [expected] : []);
});
