import { ServiceError } from "../errors.ts";
import type { Fragment, Sql } from "./database.ts";

/** Limit for a page as stored; in memory, on the wire and as JSON it is several times larger, in two processes. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;

interface BoundedPage {
  /** A select of the page's rows. */
  rows: Fragment;
  /** The bytes of one row, `page`. Postgres reads the length of a text column without loading the text. */
  bytes: Fragment;
  /** `order by …`, because the page loses its order on the way. */
  order: Fragment;
  /** How to ask for less, for the error message; "ask for a smaller page_size" by default. */
  remedy?: string;
}

interface CountedPage extends BoundedPage {
  /** Common table expressions that `rows` and `total` use, each followed by a comma. */
  from?: Fragment;
  /** How many rows there are on all pages. */
  total: Fragment;
}

/**
 * Reads the rows of a page, but none when they exceed the limit together: a hundred unbounded texts would take all
 * memory and seconds of the process.
 * @throws ServiceError condition
 */
export async function readBoundedPage<T extends object>(sql: Sql, page: BoundedPage): Promise<T[]> {
  const { rows } = await readCountedPage<T>(sql, { total: sql`0`, ...page });
  return rows;
}

/** The same with the number of rows on all pages, read together. @throws ServiceError condition */
export async function readCountedPage<T extends object>(
  sql: Sql,
  { from = sql``, rows, total, bytes, order, remedy = "ask for a smaller page_size" }: CountedPage,
): Promise<{ total: number; rows: T[] }> {
  const read = await sql<({ pageTotal: number; pageBytes: number; isRow: boolean | null } & T)[]>`
    with ${from} page as materialized (select true as is_row, each.* from (${rows}) as each)
    select page_total, page_bytes, page.*
    from (
      select (${total})::integer as page_total, coalesce(sum(${bytes}), 0)::bigint as page_bytes from page
    ) bounded_page left join page on page_bytes <= ${PAGE_BYTES_MAX}
    ${order}`;
  const [first] = read;
  refuseLongPage(first?.pageBytes ?? 0, remedy);
  return {
    total: first?.pageTotal ?? 0,
    rows: read
      .filter(({ isRow }) => isRow)
      .map(({ pageTotal: _, pageBytes: __, isRow: ___, ...row }) => row as unknown as T),
  };
}

/** @throws ServiceError condition */
function refuseLongPage(bytes: number, remedy: string): void {
  if (bytes <= PAGE_BYTES_MAX) return;
  const [asked, allowed] = [bytes, PAGE_BYTES_MAX].map((each) => Math.ceil(each / 1024 ** 2));
  throw new ServiceError(
    "condition",
    `The response would be ${asked} MiB, above the limit of ${allowed} MiB: ${remedy}`,
  );
}
