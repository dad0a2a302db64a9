import type { AllowList } from "@parley/shared/egress/allow-list";
import { checkAddress } from "@parley/shared/egress/url";
import { invalid } from "@parley/shared/errors";
import { isLonger } from "@parley/shared/text/length";
import { checkName } from "@parley/shared/text/name";
import { isLanguage } from "./text/languages.ts";

const DESCRIPTION_MAX = 500;
/** File systems allow no longer names. */
export const DOCUMENT_NAME_MAX = 255;
const URL_MAX = 2_000;
const REFRESH_HOURS_MAX = 720;
export const QUERY_MAX = 4_000;
const CHUNKS_MAX = 50;

/** @throws ServiceError invalid */
export function checkBase({
  name,
  description,
}: {
  name?: string | undefined;
  description?: string | undefined;
}): void {
  if (name !== undefined) checkName("name", name);
  if (description !== undefined && isLonger(description, DESCRIPTION_MAX))
    throw invalid("description", `description must be at most ${DESCRIPTION_MAX} characters`);
}

/** @throws ServiceError invalid */
export function checkDocument({ name, language }: { name?: string | undefined; language?: string | undefined }): void {
  if (name !== undefined) checkName("name", name, DOCUMENT_NAME_MAX);
  checkLanguage(language);
}

/** @throws ServiceError invalid */
export function checkPage(page: { url: string; refreshHours?: number | undefined }, allowedHosts: AllowList): void {
  const { url, refreshHours } = page;
  if (isLonger(url, URL_MAX)) throw invalid("url", `url must be at most ${URL_MAX} characters`);
  // The URL parser drops some of these, so the stored text would differ from the parsed URL.
  if (/[\p{Cc}\s]/u.test(url)) throw invalid("url", "url must not contain spaces or control characters");
  checkAddress("url", url, allowedHosts);
  if (refreshHours !== undefined && !(refreshHours >= 1 && refreshHours <= REFRESH_HOURS_MAX))
    throw invalid("refresh_hours", `refresh_hours must be from 1 to ${REFRESH_HOURS_MAX}`);
}

/** What a page is called until it is read, unless its owner says it. */
export function nameOfPage(url: string): string {
  return [...url].slice(0, DOCUMENT_NAME_MAX).join("");
}

/** @throws ServiceError invalid */
export function checkSearch(query: string, maxChunks: number, language: string | undefined): void {
  if (query.trim() === "" || isLonger(query, QUERY_MAX))
    throw invalid("query", `query must be 1 to ${QUERY_MAX} characters that are not all spaces`);
  if (!(maxChunks >= 1 && maxChunks <= CHUNKS_MAX))
    throw invalid("max_chunks", `max_chunks must be from 1 to ${CHUNKS_MAX}`);
  checkLanguage(language);
}

/** @throws ServiceError invalid */
function checkLanguage(language: string | undefined): void {
  if (language !== undefined && !isLanguage(language))
    throw invalid("language", "language must be a code of ISO 639-1, such as en");
}
