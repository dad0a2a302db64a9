import { expect, test } from "bun:test";
import { notationOf, readNotation } from "./notation.ts";

test.each([
  ["str", { kind: "str", detail: "", isOptional: false }],
  ["Optional[int]", { kind: "int", detail: "", isOptional: true }],
  ['Literal["a","b c"]', { kind: "choice", detail: "a, b c", isOptional: false }],
  ['Optional[Literal["yes"]]', { kind: "choice", detail: "yes", isOptional: true }],
  ["list[dict]", { kind: "other", detail: "list[dict]", isOptional: false }],
  ['Literal["a,b"]', { kind: "other", detail: 'Literal["a,b"]', isOptional: false }],
  ["nonsense[", { kind: "other", detail: "nonsense[", isOptional: false }],
] as const)("the type %p is shown, and written back unchanged", (notation, shown) => {
  expect(readNotation(notation)).toEqual(shown);
  expect(notationOf(shown)).toBe(notation);
});
