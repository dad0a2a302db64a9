import type { Sql } from "@parley/shared/db/database";
import { type ConversationFilter, matching } from "../conversation-filter.ts";
import { searchedValues } from "./searched-values.ts";

export interface Found {
  conversationId: string;
  /** When it began, in microseconds since 1970. */
  began: number;
}

/** Conversations that contain a text and are not indexed yet: those in progress, and the last that ended. */
export async function findUnindexed(
  tx: Sql,
  filter: ConversationFilter,
  text: string,
  indexed: number,
): Promise<Found[]> {
  return tx<Found[]>`
    select conversation_id, (extract(epoch from created_at) * 1000000)::float8 as began
    from (
      select conversation_id as listed_id, true as contains from search_documents
      where owner_id = ${filter.ownerId} and number >= ${indexed} and strpos(text, ${text}) > 0
      union all
      select conversation_id, false from search_waiting where owner_id = ${filter.ownerId}
    ) as unindexed cross join lateral (
      select * from conversations where owner_id = ${filter.ownerId} and conversation_id = listed_id
      -- Looks up those few: the planner would rather read all that the owner has.
      offset 0
    ) as conversations
    where ${matching(tx, filter)} and (contains or ${containing(tx, filter.ownerId, text)})`;
}

/** The conversation that the filter names, if it matches and contains the text. */
export async function findNamed(tx: Sql, filter: ConversationFilter, text: string): Promise<string[]> {
  const rows = await tx<{ conversationId: string }[]>`
    select conversation_id from conversations where ${matching(tx, filter)} and (${containing(tx, filter.ownerId, text)})`;
  return rows.map(({ conversationId }) => conversationId);
}

/** Whether any message or given value of a row of `conversations` contains a text in lower case. */
function containing(tx: Sql, ownerId: string, text: string) {
  return tx`
    exists (
      select 1 from messages
      where messages.owner_id = ${ownerId} and messages.conversation_id = conversations.conversation_id
        and strpos(lower(content), ${text}) > 0
    )
    or exists (
      select 1 from ${searchedValues(tx)} as searched where strpos(lower(value), ${text}) > 0
    )`;
}
