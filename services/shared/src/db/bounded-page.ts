import { ServiceError } from "../errors.ts";
import type { Fragment, Sql } from "./database.ts";

/** Of a page as it is stored; in memory, on the wire and as JSON it is several times as much, in two processes. */
export const PAGE_BYTES_MAX = 16 * 1024 * 1024;

export interface BoundedPage {
  /** A select of the page's rows. */
  rows: Fragment;
  /** The bytes of one row, `page`. The length of a text column is read without the text. */
  bytes: Fragment;
  /** `order by …`: the page loses its order on the way. */
  order: Fragment;
  /** In place of `PAGE_BYTES_MAX`, for what is not asked for page by page, and what to do about more. */
  most?: { bytes: number; remedy: string };
}

const A_PAGE = { bytes: PAGE_BYTES_MAX, remedy: "ask for a smaller page_size" };

/**
 * Reads the rows of a page, none of which leaves the database when they are more than a page may have together: a hundred of what
 * users may store as long as they like would take all the memory and seconds of a process.
 * @throws ServiceError condition
 */
export async function readBoundedPage<T extends object>(
  sql: Sql,
  { rows, bytes, order, most = A_PAGE }: BoundedPage,
): Promise<T[]> {
  const read = await sql<({ pageBytes: number; isRow: boolean | null } & T)[]>`
    with page as materialized (select true as is_row, each.* from (${rows}) as each)
    select page_bytes, page.*
    from (select coalesce(sum(${bytes}), 0)::bigint as page_bytes from page) bounded_page
      left join page on page_bytes <= ${most.bytes}
    ${order}`;
  refuseLongPage(read[0]?.pageBytes ?? 0, most);
  return read.filter(({ isRow }) => isRow).map(({ pageBytes: _, isRow: __, ...row }) => row as unknown as T);
}

/** @throws ServiceError condition */
export function refuseLongPage(bytes: number, most = A_PAGE): void {
  if (bytes <= most.bytes) return;
  const [asked, allowed] = [bytes, most.bytes].map((each) => Math.ceil(each / 1024 ** 2));
  throw new ServiceError(
    "condition",
    `The answer would have ${asked} MiB, more than the ${allowed} of a list: ${most.remedy}`,
  );
}
