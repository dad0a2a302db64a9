import { ServiceError } from "../errors.ts";
import type { Fragment, Sql } from "./database.ts";

/** Limit for a page as stored; in memory, on the wire and as JSON it is several times larger, in two processes. */
export const PAGE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * The memory that is reserved for a read. Its pages take from it, one after the other; one that does not fit is not read, so that
 * the caller can reserve what it needs first.
 */
export interface Room {
  bytes: number;
  /** What pages have taken. */
  used: number;
}

/** A page was not read, because its read needs this many bytes, which are within the limits. */
export class NeedsRoom extends Error {
  constructor(readonly bytes: number) {
    super(`A read needs room for ${bytes} bytes`);
  }
}

export interface BoundedPage {
  /** A select of the page's rows. */
  rows: Fragment;
  /** The bytes of one row, `page`. Postgres reads the length of a text column without loading the text. */
  bytes: Fragment;
  /** `order by …`, because the page loses its order on the way. */
  order: Fragment;
  /** Replaces `PAGE_BYTES_MAX` for results without pages, with the remedy to suggest. */
  most?: { bytes: number; remedy: string };
  /** Without one, there is room for all that is allowed. */
  room?: Room;
}

export interface CountedPage extends BoundedPage {
  /** Common table expressions that `rows` and `total` use, each followed by a comma. */
  from: Fragment;
  /** How many rows there are on all pages. */
  total: Fragment;
}

const A_PAGE = { bytes: PAGE_BYTES_MAX, remedy: "ask for a smaller page_size" };

/**
 * Reads the rows of a page, but none when they exceed the limit together: a hundred unbounded texts would take all
 * memory and seconds of the process.
 * @throws ServiceError condition; NeedsRoom
 */
export async function readBoundedPage<T extends object>(sql: Sql, page: BoundedPage): Promise<T[]> {
  const { rows } = await readCountedPage<T>(sql, { from: sql``, total: sql`0`, ...page });
  return rows;
}

/** The same with the number of rows on all pages, read together. @throws ServiceError condition; NeedsRoom */
export async function readCountedPage<T extends object>(
  sql: Sql,
  { from, rows, total, bytes, order, most = A_PAGE, room }: CountedPage,
): Promise<{ total: number; rows: T[] }> {
  const fits = room ? Math.min(most.bytes, room.bytes - room.used) : most.bytes;
  const read = await sql<({ pageTotal: number; pageBytes: number; isRow: boolean | null } & T)[]>`
    with ${from} page as materialized (select true as is_row, each.* from (${rows}) as each)
    select page_total, page_bytes, page.*
    from (
      select (${total})::integer as page_total, coalesce(sum(${bytes}), 0)::bigint as page_bytes from page
    ) bounded_page left join page on page_bytes <= ${fits}
    ${order}`;
  const [first] = read;
  const pageBytes = first?.pageBytes ?? 0;
  refuseLongPage(pageBytes, most);
  if (room) take(room, pageBytes);
  return {
    total: first?.pageTotal ?? 0,
    rows: read
      .filter(({ isRow }) => isRow)
      .map(({ pageTotal: _, pageBytes: __, isRow: ___, ...row }) => row as unknown as T),
  };
}

/** @throws NeedsRoom */
function take(room: Room, bytes: number): void {
  const needed = room.used + bytes;
  if (needed > room.bytes) throw new NeedsRoom(needed);
  room.used = needed;
}

/** @throws ServiceError condition */
function refuseLongPage(bytes: number, most: NonNullable<BoundedPage["most"]>): void {
  if (bytes <= most.bytes) return;
  const [asked, allowed] = [bytes, most.bytes].map((each) => Math.ceil(each / 1024 ** 2));
  throw new ServiceError(
    "condition",
    `The response would be ${asked} MiB, above the limit of ${allowed} MiB: ${most.remedy}`,
  );
}
