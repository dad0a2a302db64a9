import { expect, test } from "bun:test";
import fc from "fast-check";
import { splitText } from "./split-text.ts";

test("a reply that fits is one message, and a blank one is none", () => {
  expect(splitText(" We open at nine. ", 20)).toEqual(["We open at nine."]);
  expect(splitText(" \n ", 20)).toEqual([]);
});

test("a long reply is cut at a paragraph, a line, a sentence or a word, whichever comes first in this order", () => {
  expect(splitText("One two.\n\nThree four five six.", 20)).toEqual(["One two.\n\nThree", "four five six."]);
  expect(splitText("One two three.\n\nFour five six.", 20)).toEqual(["One two three.", "Four five six."]);
  expect(splitText("One two three. Four five six.", 20)).toEqual(["One two three.", "Four five six."]);
  expect(splitText("One two three four five six", 20)).toEqual(["One two three four", "five six"]);
});

test("every part fits, no part is empty, and nothing but white space between parts is lost", () => {
  const text = fc
    .array(fc.constantFrom("a", "bc", "😀", ".", "\n", " "), { maxLength: 200 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 10, max: 50 }), (reply, max) => {
      const parts = splitText(reply, max);
      expect(parts.every((part) => part.length > 0 && part.length <= max && part.isWellFormed())).toBeTrue();
      expect(parts.join("").replace(/\s/g, "")).toBe(reply.replace(/\s/g, ""));
    }),
  );
});
