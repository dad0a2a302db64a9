import { expect, test } from "bun:test";
import { wordsAfter } from "./words.ts";

const told = (offset: number, content: string, final = false) => ({
  ...{ seq: 2, role: "user" as const, final, offset, content },
});

test("words in progress grow, are corrected behind their offset, and go when the message is whole", () => {
  let words = wordsAfter({}, told(0, "I want 👋 two"));
  expect(words.user).toBe("I want 👋 two");
  words = wordsAfter(words, told(9, "to book"));
  expect(words.user).toBe("I want 👋 to book");
  expect(wordsAfter(words, told(0, "I want to book.", true)).user).toBeUndefined();
});
