/** The largest page that the API's lists have. */
export const PAGE_SIZE_MAX = 100;

/** Pages that are read of a list: a choice of more would help nobody. */
const PAGES_MAX = 10;

/**
 * Reads a list page by page, so that its pages are not in memory on the server together.
 * @param read reads a page of `PAGE_SIZE_MAX` items, from 1 on
 * @returns the first thousand items, and whether these are all
 */
export async function readPages<Item>(
  read: (page: number) => Promise<{ items: readonly Item[]; total: number }>,
): Promise<{ items: readonly Item[]; areAll: boolean }> {
  const items: Item[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const found = await read(page);
    items.push(...found.items);
    if (page * PAGE_SIZE_MAX >= found.total) return { items, areAll: true };
  }
  return { items, areAll: false };
}
