import { expect, test } from "bun:test";
import { shownPart } from "./shown-part.ts";

test("a document opens at the chunk that a reply came from", () => {
  expect(shownPart("one two three", "two")).toEqual({
    before: "one ",
    marked: "two",
    after: " three",
    isCutBefore: false,
    isCutAfter: false,
  });
});

test("a long document shows what is around the chunk, and says what is left out", () => {
  const text = `${"a".repeat(500_000)} the chunk ${"b".repeat(500_000)}`;
  const part = shownPart(text, "the chunk");
  expect([part.marked, part.isCutBefore, part.isCutAfter]).toEqual(["the chunk", true, true]);
  expect(part.before.length + part.marked.length + part.after.length).toBe(200_000);
});

test("a text without the chunk shows its beginning", () => {
  expect(shownPart("one two", "three")).toMatchObject({ before: "", marked: "", after: "one two" });
});
