import { expect, spyOn, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import { wordCutter } from "./words.ts";

function cut(pieces: readonly string[]): string[] {
  const cutter = wordCutter();
  return [...pieces.map((piece) => cutter.push(piece)), cutter.end()].filter((chunk) => chunk !== "");
}

/** A text of words, and white space of any kind, in pieces cut anywhere. */
const pieces = fc.array(
  fc
    .array(fc.constantFrom("a", "é", "😀", "-", " ", " ", "\n", "\t", "\u00a0", "。", "語"), { maxLength: 8 })
    .map((units) => units.join("")),
  { maxLength: 12 },
);

test("what goes out is what came in, character by character", () => {
  fc.assert(fc.property(pieces, (given) => expect(cut(given).join("")).toBe(given.join(""))));
  fc.assert(
    fc.property(fc.array(fc.string({ unit: anyCharacter })), (given) =>
      expect(cut(given).join("")).toBe(given.join("")),
    ),
  );
});

test("every chunk but the last ends where a word has ended and begins where one begins, whatever the pieces", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const chunks = cut(given);
      for (const [at, chunk] of chunks.entries()) {
        if (at > 0) expect(chunk).toMatch(/^[^\s。]/);
        if (at < chunks.length - 1) expect(chunk).toMatch(/[\s。]$/);
      }
    }),
  );
});

test("a word is not held back any longer than until the next one begins", () => {
  fc.assert(
    fc.property(pieces, (given) => {
      const cutter = wordCutter();
      let sent = "";
      let came = "";
      for (const piece of given) {
        sent += cutter.push(piece);
        came += piece;
        // At most one word is held back: it has white space only at its ends.
        expect(came.slice(sent.length)).toMatch(/^\s*[^\s。]*[\s。]*$/);
      }
    }),
  );
});

test.each<[string[], string[]]>([
  [
    ["Hel", "lo the", "re."],
    ["Hello ", "there."],
  ],
  [["one two three"], ["one two ", "three"]],
  [
    ["a", " ", " ", "b"],
    ["a  ", "b"],
  ],
  [["  lead"], ["  ", "lead"]],
  [["trail\n\n"], ["trail\n\n"]],
  [
    ["你好，", "世界。「是", "」。再见"],
    ["你好，世界。", "「是」。", "再见"],
  ],
  [
    ["😀", " 😀"],
    ["😀 ", "😀"],
  ],
  [[], []],
  [["", ""], []],
])("%j goes out as %j", (given, expected) => {
  expect(cut(given)).toEqual(expected);
});

test("long texts are cut where short ones are, wherever their last word begins", () => {
  for (const begins of [1, 255, 256, 257, 600, 4_000]) {
    const text = `a ${"b".repeat(begins)}`;
    expect(cut([text])).toEqual(["a ", "b".repeat(begins)]);
    expect(cut([`${"c ".repeat(2_000)}${text}`])).toEqual([`${"c ".repeat(2_000)}a `, "b".repeat(begins)]);
  }
});

test("the last word of a long text is found without looking for all others", () => {
  const text = "a word ".repeat(100_000);
  const looks = spyOn(RegExp.prototype, "exec");
  wordCutter().push(text);
  const found = looks.mock.calls.length;
  looks.mockRestore();
  expect(found).toBeLessThan(200);
});
