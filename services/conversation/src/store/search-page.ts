import type { Database } from "@parley/shared/db/database";
import { containing } from "@parley/shared/db/like";
import { type ConversationFilter, matching } from "./conversation-filter.ts";
import type { FoundPage, Page } from "./list-page.ts";

/**
 * A page of the conversations whose messages or metadata contain a text, and how many there are in all. The text is searched for
 * in both indexes of trigrams; one under three letters has none, so that every message of the owner is looked at.
 */
export async function findSearchedPage(db: Database, filter: ConversationFilter, page: Page): Promise<FoundPage> {
  const pattern = containing(filter.search);
  const rows = await db.begin(async (tx) => {
    // Planned for this very text: a plan for any text is a thousand times slower for some. Room for what a common word finds.
    await tx`select set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '64MB', true)`;
    return tx<{ total: number; conversationId: string | null }[]>`
      with found as (
        select conversation_id from messages where owner_id = ${filter.ownerId} and content ilike ${pattern}
        union
        select conversation_id from conversations
        where owner_id = ${filter.ownerId} and searchable_text(metadata, variables, to_mobile_number, from_mobile_number) ilike ${pattern}
      ), matched as materialized (
        select conversation_id, created_at from conversations
        where ${matching(tx, filter)} and conversation_id in (select conversation_id from found)
      ), page as (
        select conversation_id, created_at from matched
        order by created_at desc, conversation_id desc limit ${page.size} offset ${(page.number - 1) * page.size}
      )
      select total, conversation_id
      from (select count(*)::integer as total from matched) as counted left join page on true
      order by created_at desc, conversation_id desc`;
  });
  return { total: rows[0]?.total ?? 0, conversationIds: rows.flatMap((row) => row.conversationId ?? []) };
}
