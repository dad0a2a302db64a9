/** The largest page that the API's lists have. */
const PAGE_SIZE_MAX = 100;

/** Pages that are read of a list: a choice of more would help nobody. */
const PAGES_MAX = 10;

/**
 * Reads a list page by page, so that its pages are not in memory on the server together.
 * @param read reads a page of the query's number and size
 * @returns the first thousand items, and whether these are all
 */
export async function readPages<Page extends { total: number }, Item>(
  read: (query: { page: number; page_size: number }) => Promise<Page>,
  itemsOf: (page: Page) => readonly Item[],
): Promise<{ items: readonly Item[]; areAll: boolean }> {
  const items: Item[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const found = await read({ page, page_size: PAGE_SIZE_MAX });
    items.push(...itemsOf(found));
    if (page * PAGE_SIZE_MAX >= found.total) return { items, areAll: true };
  }
  return { items, areAll: false };
}
