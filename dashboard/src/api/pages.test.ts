import { expect, test } from "bun:test";
import { readPages } from "./pages.ts";

test.each([
  [0, 0, 1, true],
  [100, 100, 1, true],
  [101, 101, 2, true],
  [1_000, 1_000, 10, true],
  [1_001, 1_000, 10, false],
])("of a list of %i items, %i are read in %i pages", async (total, count, pages, areAll) => {
  const asked: number[] = [];
  const { items, ...found } = await readPages(
    async ({ page, page_size }) => {
      asked.push(page);
      const from = (page - 1) * page_size;
      return { numbers: Array.from({ length: Math.min(page_size, total - from) }, (_, at) => from + at), total };
    },
    ({ numbers }) => numbers,
  );
  expect(items).toEqual(Array.from({ length: count }, (_, at) => at));
  expect(found).toEqual({ areAll });
  expect(asked).toEqual(Array.from({ length: pages }, (_, at) => at + 1));
});
