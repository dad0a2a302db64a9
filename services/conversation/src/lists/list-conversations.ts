import type { Database } from "@parley/shared/db/database";
import type { ConversationRow } from "../store/conversations.ts";
import type { ConversationFilter } from "../store/lists/conversation-filter.ts";
import { type FoundPage, findCountedPage, type Page } from "../store/lists/list-page.ts";
import { findNamedPage, readListedRows } from "../store/lists/listed-rows.ts";
import { findKeptSince } from "../store/retention.ts";
import { findSearchedPage } from "../store/search/page.ts";

/**
 * Returns a page of the conversations within retention, newest first, and the total number of matches. The only reader
 * of the roll-up counts and the search index (docs/decisions/0013-search-by-bitmaps-and-roll-up-counts.md).
 * @throws ServiceError condition when the page is too large
 */
export async function listConversationRows(
  db: Database,
  filter: ConversationFilter,
  page: Page,
  now: Date,
): Promise<{ rows: ConversationRow[]; total: number }> {
  const keptSince = await findKeptSince(db, filter.ownerId, now);
  const from = filter.from && filter.from > keptSince ? filter.from : keptSince;
  const { conversationIds, total } = await findPage(db, { ...filter, from }, page);
  if (conversationIds.length === 0) return { rows: [], total };
  return { rows: await readListedRows(db, filter.ownerId, conversationIds), total };
}

function findPage(db: Database, filter: ConversationFilter, page: Page): Promise<FoundPage> {
  if (filter.search !== "") return findSearchedPage(db, filter, page);
  return filter.conversationId === "" ? findCountedPage(db, filter, page) : findNamedPage(db, filter, page);
}
