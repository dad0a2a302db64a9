import { readBoundedPage } from "@parley/shared/db/bounded-page";
import type { Database } from "@parley/shared/db/database";
import { type ConversationRow, conversationColumns } from "../conversations.ts";
import { type ConversationFilter, matching } from "./conversation-filter.ts";
import type { FoundPage, Page } from "./list-page.ts";

/** The page with the one conversation that the filter names, if it matches. */
export async function findNamedPage(db: Database, filter: ConversationFilter, page: Page): Promise<FoundPage> {
  const rows = await db<
    { conversationId: string }[]
  >`select conversation_id from conversations where ${matching(db, filter)}`;
  const conversationIds = page.number === 1 ? rows.map((row) => row.conversationId) : [];
  return { conversationIds, total: rows.length };
}

/** The conversations of a page, newest first. @throws ServiceError condition when the page is too large */
export function readListedRows(
  db: Database,
  ownerId: string,
  conversationIds: readonly string[],
): Promise<ConversationRow[]> {
  return readBoundedPage<ConversationRow>(db, {
    rows: db`
      select ${conversationColumns(db)} from conversations
      where owner_id = ${ownerId} and conversation_id = any(${conversationIds as string[]}::uuid[])`,
    bytes: db`octet_length(page::text)`,
    order: db`order by created_at desc, conversation_id desc`,
  });
}
