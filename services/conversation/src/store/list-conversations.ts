import { readBoundedPage } from "@parley/shared/db/bounded-page";
import type { Database } from "@parley/shared/db/database";
import { type ConversationFilter, matching } from "./conversation-filter.ts";
import { type ConversationRow, conversationColumns } from "./conversations.ts";
import { type FoundPage, findCountedPage, type Page } from "./list-page.ts";
import { findKeptSince } from "./retention.ts";
import { findSearchedPage } from "./search/page.ts";

/**
 * A page of the conversations that are not past retention, newest first, and how many match in all.
 * @throws ServiceError condition for a page that is too long
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
  const rows = await readBoundedPage<ConversationRow>(db, {
    rows: db`
      select ${conversationColumns(db)} from conversations
      where owner_id = ${filter.ownerId} and conversation_id = any(${conversationIds}::uuid[])`,
    bytes: db`octet_length(page::text)`,
    order: db`order by created_at desc, conversation_id desc`,
  });
  return { rows, total };
}

async function findPage(db: Database, filter: ConversationFilter, page: Page): Promise<FoundPage> {
  if (filter.search !== "") return findSearchedPage(db, filter, page);
  if (filter.conversationId === "") return findCountedPage(db, filter, page);
  const rows = await db<
    { conversationId: string }[]
  >`select conversation_id from conversations where ${matching(db, filter)}`;
  const conversationIds = page.number === 1 ? rows.map((row) => row.conversationId) : [];
  return { conversationIds, total: rows.length };
}
