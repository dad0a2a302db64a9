import { expect, spyOn, test } from "bun:test";
import { EXCERPT_BYTES_MAX, excerptOf } from "./excerpt.ts";

const bytesOf = (text: string) => Buffer.byteLength(text);

test.each([
  ["text that is longer", Buffer.from("a".repeat(5_000)), "a".repeat(4_096)],
  ["a character cut in two", Buffer.from(`a${"ü".repeat(2_500)}`), `a${"ü".repeat(2_047)}`],
  ["what is no text, each byte of which becomes three", Buffer.alloc(5_000, 0xff), "\ufffd".repeat(1_365)],
  ["NUL, which Postgres does not take", Buffer.from("a\0b"), "a\ufffdb"],
])("at most 4 KiB of %s are kept", (_, answered, kept) => {
  const excerpt = excerptOf([answered.subarray(0, 10), answered.subarray(10)]);
  expect(excerpt).toBe(kept);
  expect(bytesOf(excerpt)).toBeLessThanOrEqual(EXCERPT_BYTES_MAX);
});

test("only the beginning of a long response is copied", () => {
  const joins = spyOn(Buffer, "concat");
  expect(excerptOf([Buffer.from("a"), Buffer.alloc(1_000_000, "b")])).toBe(`a${"b".repeat(4095)}`);
  const copied = joins.mock.results.map(({ value }) => (value as Buffer).length);
  joins.mockRestore();
  expect(copied).toEqual([4096]);
});
