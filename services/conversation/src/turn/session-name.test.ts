import { expect, test } from "bun:test";
import fc from "fast-check";
import { sessionName } from "./session-name.ts";

test.each([
  ["Hello", "Hello"],
  ["  two\n\nlines\tand  spaces ", "two lines and spaces"],
  ["a".repeat(60), "a".repeat(60)],
  ["a".repeat(61), "a".repeat(60)],
  ["😀".repeat(61), "😀".repeat(60)],
  [`${"a".repeat(30)} ${"b".repeat(29)} c`, `${"a".repeat(30)} ${"b".repeat(29)}`],
  [`${"a".repeat(30)} ${"b".repeat(30)}`, "a".repeat(30)],
  [" \n ", ""],
])("%j is called %j", (message, name) => {
  expect(sessionName(message)).toBe(name);
});

test("a name is at most 60 characters as people count, is one line, and begins the message", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (message) => {
      const name = sessionName(message);
      expect([...name].length).toBeLessThanOrEqual(60);
      expect(name).toBe(name.trim());
      expect(message.trim().replaceAll(/\s+/g, " ")).toStartWith(name);
    }),
  );
});
