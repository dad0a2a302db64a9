import { expect, test } from "bun:test";
import { markedIn, wordsOf } from "./marked.ts";

const marks = (text: string, query: string) =>
  markedIn(text, wordsOf(query))
    .map((piece) => (piece.isMarked ? `[${piece.text}]` : piece.text))
    .join("");

test("the words of a question are marked in what was found, in other forms and capitals too", () => {
  expect(marks("Small repairs cost 40 euros.", "What does a small repair cost?")).toBe(
    "[Small] [repairs] [cost] 40 euros.",
  );
  expect(marks("Order A-1001 in 2026.", "order 1001")).toBe("[Order] A-[1001] in 2026.");
  expect(marks("Die Preise gelten", "der Preis")).toBe("Die [Preise] gelten");
});

test("words that only begin like a word of the question are not marked", () => {
  expect(marks("A costume for the repairman.", "cost of repair")).toBe("A [costume] for the [repairman].");
});

test("a question in Chinese marks the characters that it shares with the text", () => {
  expect(marks("小修理费用为四十欧元", "修理费用")).toBe("小[修理费用]为四十欧元");
});

test("a question of short words alone is marked by these", () => {
  expect(marks("Is it in the box?", "box")).toBe("Is it in the [box]?");
});
