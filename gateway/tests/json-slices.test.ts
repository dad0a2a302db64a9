import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonSlices } from "../src/http/answer/json-slices.ts";

const isWhole = (value: unknown) => expect([...jsonSlices(value)].join("")).toBe(JSON.stringify(value));

test("joined slices are the JSON of any value", () => {
  const unusual = fc.constantFrom(undefined, new Date(0), Number.NaN, "\u0001\ud800", "long \u2028".repeat(1_000));
  const anything = fc.anything({ values: [fc.string({ unit: "grapheme" }), fc.double(), fc.boolean(), unusual] });
  fc.assert(fc.property(fc.record({ a: anything, b: fc.array(anything) }), isWhole));
});

test("a long text is cut into slices, but no character is split", () => {
  for (const before of ["", "a"]) {
    const value = { text: before + "😀".repeat(100_000) };
    isWhole(value);
    for (const slice of jsonSlices(value)) expect(slice.isWellFormed()).toBe(true);
  }
});

test("slices stay small, whatever they contain", () => {
  const text = "\u0001".repeat(1_000_000);
  const messages = Array.from({ length: 50_000 }, () => ({ role: "user", content: "Hi." }));
  for (const value of [{ text }, { messages }, { messages: [{ role: "user", content: text }] }]) {
    isWhole(value);
    for (const slice of jsonSlices(value)) expect(slice.length).toBeLessThanOrEqual(100 * 1024);
  }
});
