/** The four figures of every list; an empty list has 0 pages. */
export function pageFigures(total: number, page: { number: number; size: number }) {
  return { total, page: page.number, page_size: page.size, total_pages: Math.ceil(total / page.size) };
}

/** The page a query asks for. */
export function pageOf(query: { page?: number; page_size?: number }): { number: number; size: number } {
  return { number: query.page ?? 1, size: query.page_size ?? 10 };
}
