import { expect, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import { promptNameFault } from "./rules.ts";

test.each([
  "a",
  "a".repeat(100),
  "😀".repeat(100),
  "sales/first call",
  "...",
  " padded ",
  "100 %",
  "приветствие",
  "👩‍💻 helper",
])("%j is a name", (name) => {
  expect(promptNameFault(name)).toBeNull();
});

test.each([
  "",
  "a".repeat(101),
  "😀".repeat(101),
  " ",
  "\u00a0\u3000",
  "\u200b",
  ".",
  "..",
  "tab\t",
  "line\n",
  "nul\0",
  "del\u007f",
  "half \ud800",
  "line\u2028separator",
  "private\ue000",
])("%j is not a name, and the reason names the field", (name) => {
  expect(promptNameFault(name)).toStartWith("prompt_name must ");
});

test("a valid name survives the wire and the database: it has no lone surrogate and no NUL", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 110 }), (name) => {
      if (promptNameFault(name) !== null) return;
      expect(name.isWellFormed()).toBe(true);
      expect(name).not.toContain("\0");
      expect([...name].length).toBeLessThanOrEqual(100);
    }),
  );
});
