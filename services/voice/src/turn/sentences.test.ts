import { expect, test } from "bun:test";
import fc from "fast-check";
import { SENTENCE_MIN, sentenceCutter } from "./sentences.ts";

function cut(pieces: readonly string[]): string[] {
  const cutter = sentenceCutter();
  return [...pieces.flatMap((piece) => cutter.push(piece)), cutter.end()].filter((part) => part !== "");
}

const pieces = fc.array(
  fc
    .array(fc.constantFrom("a", "Dr", "5", ".", "!", "?", " ", " ", "\n", "word", "The", "。", "語", "…", '"'), {
      maxLength: 20,
    })
    .map((units) => units.join("")),
  { maxLength: 30 },
);

test("the parts together are the text, and all but the last can be spoken on their own", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const parts = cut(given);
      expect(parts.join("")).toBe(given.join(""));
      for (const part of parts.slice(0, -1)) expect(part.trim().length).toBeGreaterThanOrEqual(SENTENCE_MIN);
    }),
  );
});

test("the cuts do not depend on how the text arrives", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const whole = given.join("");
      expect(cut([...whole])).toEqual(cut([whole]));
    }),
  );
});

test.each([
  [
    "Dr. Smith can see you at 3 p.m. on Tuesday. Does that suit you?",
    ["Dr. Smith can see you at 3 p.m. on Tuesday. ", "Does that suit you?"],
  ],
  [
    "The total comes to $1,299.50 with tax. Shall I go on?",
    ["The total comes to $1,299.50 with tax. ", "Shall I go on?"],
  ],
  ["We are closed until the 3. March this year. Sorry!", ["We are closed until the 3. March this year. ", "Sorry!"]],
  ["Bring a document, e.g. a passport. We open at nine.", ["Bring a document, e.g. a passport. ", "We open at nine."]],
  ["Yes. No. Well, that depends on the day.", ["Yes. No. Well, that depends on the day."]],
  ["We open at nine in the morning! Anything else?", ["We open at nine in the morning! ", "Anything else?"]],
])("%p is cut between its sentences only", (text, sentences) => expect(cut([text])).toEqual(sentences));

test("a text without sentences is cut at a space before it gets long", () => {
  const parts = cut([Array.from({ length: 300 }, () => "word").join(" ")]);
  expect(parts.length).toBeGreaterThan(2);
  for (const part of parts) expect(part.length).toBeLessThanOrEqual(401);
  expect(parts.every((part) => /^word/.test(part))).toBe(true);
});
