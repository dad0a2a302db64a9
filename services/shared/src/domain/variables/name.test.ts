import { describe, expect, spyOn, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import { normalizeVariableName } from "./name.ts";

describe("normalizeVariableName", () => {
  test.each([
    ["Customer Name", "customer_name"],
    ["customer_name", "customer_name"],
    ["  Customer -- Name!  ", "customer_name"],
    ["line\nbreak", "line_break"],
    ["__proto__", "proto"],
    ["constructor", "constructor"],
    ["ＣＵＳＴＯＭＥＲ", "customer"],
    ["ﬁrst", "first"],
    ["x²", "x2"],
    ["\u212A", "k"],
    ["cafe\u0301", "café"],
    ["naïve plan", "naïve_plan"],
    ["größe", "größe"],
    ["Grüße", "grüße"],
    ["Οδός", "οδόσ"],
    ["ΟΔΌΣ", "οδόσ"],
    ["\u03F9", "σ"],
    ["\u03F2", "σ"],
    ["имя 1", "имя_1"],
    ["Фамилия – 1", "фамилия_1"],
    ["名前", "名前"],
    ["ﾅﾏｴ", "ナマエ"],
    ["نام خانوادگی", "نام_خانوادگی"],
    ["ग्राहक का नाम", "ग्राहक_का_नाम"],
    ["रقم ٣", "रقم_٣"],
    ["J\u030C", "\u01F0"],
    ["☎\uFE0F Phone", "phone"],
    ["name\uFE0F", "name"],
    ["😀", ""],
    ["❤\uFE0F", ""],
    ["\u3164", ""],
    ["\u0301", ""],
    ["_ - _", ""],
    ["", ""],
    ["\uD800", ""],
  ])("%j has the key %j", (name, key) => {
    expect(normalizeVariableName(name)).toBe(key);
  });

  test("a key is its own key, and has only letters, marks, digits and single inner underscores", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (name) => {
        const key = normalizeVariableName(name);
        expect(normalizeVariableName(key)).toBe(key);
        expect(key).toMatch(/^([\p{L}\p{M}\p{N}]+(_[\p{L}\p{M}\p{N}]+)*)?$/u);
      }),
    );
  });

  test("one name is one variable however its letters are composed and in either case", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (name) => {
        const key = normalizeVariableName(name);
        for (const form of ["NFC", "NFD", "NFKC", "NFKD"] as const)
          expect(normalizeVariableName(name.normalize(form))).toBe(key);
        expect(normalizeVariableName(name.toLowerCase())).toBe(key);
      }),
    );
  });

  test("no run of marks longer than Stream-Safe text allows reaches the normalizer, which sorts in quadratic time", () => {
    const lengths: number[] = [];
    const normalizeSpy = spyOn(String.prototype, "normalize").mockImplementation(function (this: string) {
      lengths.push(this.length);
      return "";
    });
    try {
      for (const pair of ["\u0301\u0323", "\u0301\uFF9E"]) normalizeVariableName(`a${pair.repeat(2 ** 19)}b`);
    } finally {
      normalizeSpy.mockRestore();
    }
    expect(lengths).toEqual([32, 32]);
  });
});
