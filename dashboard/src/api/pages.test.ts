import { expect, test } from "bun:test";
import { PAGE_SIZE_MAX, readPages } from "./pages.ts";

test.each([
  [0, 0, 1, true],
  [100, 100, 1, true],
  [101, 101, 2, true],
  [1_000, 1_000, 10, true],
  [1_001, 1_000, 10, false],
])("of a list of %i items, %i are read in %i pages", async (total, count, pages, areAll) => {
  const asked: number[] = [];
  const { items, ...found } = await readPages(async (page) => {
    asked.push(page);
    const from = (page - 1) * PAGE_SIZE_MAX;
    return { items: Array.from({ length: Math.min(PAGE_SIZE_MAX, total - from) }, (_, at) => from + at), total };
  });
  expect(items).toEqual(Array.from({ length: count }, (_, at) => at));
  expect(found).toEqual({ areAll });
  expect(asked).toEqual(Array.from({ length: pages }, (_, at) => at + 1));
});
