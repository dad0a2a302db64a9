import { expect, test } from "bun:test";
import { inBatches } from "../batches.ts";

test("unit tests of a part share a process, every other file has its own, and no file is left out", () => {
  const files = ["gateway/src/a.test.ts", "gateway/tests/a.test.ts", "gateway/src/http/b.test.ts", "cli/src/a.test.ts"];
  expect(inBatches(files)).toEqual([
    ["gateway/src/a.test.ts", "gateway/src/http/b.test.ts"],
    ["gateway/tests/a.test.ts"],
    ["cli/src/a.test.ts"],
  ]);
});

test("the files that take longest start first", () => {
  const files = ["gateway/tests/a.test.ts", "tests/api/a.test.ts", "tests/faults/a.test.ts"];
  expect(inBatches(files)).toEqual(files.toReversed().map((file) => [file]));
});
