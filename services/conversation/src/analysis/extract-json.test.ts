import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { extractJson } from "./extract-json.ts";

describe("the JSON object of an answer", () => {
  test.each([
    ["alone", '{"a": 1}'],
    ["with white space around", '\n  {"a": 1}\n'],
    ["in a code fence", '```json\n{"a": 1}\n```'],
    ["in prose", 'Here is the analysis: {"a": 1}. Anything else?'],
    ["in prose with quotes and an unpaired brace after", 'I\'d say "this": {"a": 1} }'],
    ["beside braces that are no JSON", 'For {customer}: {"a": 1}'],
  ])("is found %s", (_, text) => {
    expect(extractJson(text)).toEqual({ a: 1 });
  });

  test.each([
    ["there is none", "I cannot say."],
    ["it is cut off", '{"a": 1, "b": {'],
    ["it is a list", '[{"a": 1}, {"a": 2}]'],
    ["it is a scalar", "true"],
    ["there are several", 'First {"a": 1}, then {"a": 2}'],
    ["it is empty", ""],
  ])("is not guessed when %s", (_, text) => {
    expect(extractJson(text)).toBeNull();
  });

  test("is found in any prose without braces, whatever its shape", () => {
    const prose = fc.string().map((text) => text.replaceAll(/[{}]/g, ""));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), prose, prose, (object, before, after) => {
        const written = JSON.parse(JSON.stringify(object));
        expect(extractJson(`${before}${JSON.stringify(object, null, 2)}${after}`)).toEqual(written);
      }),
    );
  });

  test("is looked for in one pass, however many braces there are", () => {
    expect(extractJson("{".repeat(1_000_000))).toBeNull();
    expect(extractJson("{}".repeat(300_000))).toBeNull();
  });
});
