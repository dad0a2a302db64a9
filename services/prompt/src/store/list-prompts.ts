import { readCountedPage } from "@parley/shared/db/bounded-page";
import type { Database, Sql } from "@parley/shared/db/database";
import { lookUpPrompts } from "./look-up-prompts.ts";
import type { FoundPage, Page, PromptFilter, PromptRow } from "./prompts.ts";
import { findSearchedPage } from "./search-prompts.ts";

/**
 * A page of an owner's prompts, newest first, and the total number of matches.
 * @throws ServiceError condition when the page is too large
 */
export function listPromptRows(db: Database, filter: PromptFilter, page: Page): Promise<FoundPage> {
  if (filter.search !== "") return findSearchedPage(db, filter, page);
  const table = filter.latestOnly ? db`prompts` : db`prompt_versions`;
  return readCountedPage<PromptRow>(db, {
    rows: lookUpPrompts(db, filter.ownerId, db`(${chosen(db, filter, page)})`),
    total: db`select count(*) from ${table} where owner_id = ${filter.ownerId}`,
    bytes: db`octet_length(prompt_content)`,
    order: db`order by updated_at desc, prompt_name, prompt_version desc`,
  });
}

/** The versions of a page, before any join, so that none is read for those that are skipped. */
function chosen(sql: Sql, { ownerId, latestOnly }: PromptFilter, page: Page) {
  const place = sql`limit ${page.size} offset ${(page.number - 1) * page.size}`;
  return latestOnly
    ? sql`
        select prompt_name, latest_version as prompt_version from prompts where owner_id = ${ownerId}
        order by updated_at desc, prompt_name ${place}`
    : sql`
        select prompt_name, prompt_version from prompt_versions where owner_id = ${ownerId}
        order by created_at desc, prompt_name, prompt_version desc ${place}`;
}
