import { invalid } from "./errors.ts";

export interface Page {
  /** 1 is the first. */
  number: number;
  size: number;
}

export const PAGE_SIZE_MAX = 100;
const PAGE_SIZE_DEFAULT = 10;

/**
 * The page that a list request asks for; the first `sizeDefault` items by default. Services check it themselves because
 * the gateway is not their only caller.
 * @throws ServiceError invalid, naming `page` or `page_size`
 */
export function pageOf(page: Page | undefined, sizeDefault = PAGE_SIZE_DEFAULT): Page {
  if (page === undefined) return { number: 1, size: sizeDefault };
  const { number, size } = page;
  if (number < 1) throw invalid("page", "page must be at least 1");
  if (size < 1 || size > PAGE_SIZE_MAX) throw invalid("page_size", `page_size must be from 1 to ${PAGE_SIZE_MAX}`);
  return { number, size };
}
