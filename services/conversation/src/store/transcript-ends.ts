import type { Sql } from "@parley/shared/db/database";
import type { MessageRow } from "./messages.ts";
import type { SessionKey } from "./session-key.ts";

export type EndMessage = Pick<MessageRow, "seq" | "role" | "content">;

export interface EndsBounds {
  /** Bytes of the first messages together. */
  beginningBytes: number;
  /** Bytes of the last messages together. */
  endBytes: number;
  /** Bytes of one message; a longer one loses its middle. */
  messageBytes: number;
  /** Bytes counted for each message in addition to its text. */
  overheadBytes: number;
}

/**
 * Reads the first and last messages of a conversation, oldest first, so that a long transcript never leaves the
 * database whole. A gap in `seq` shows what is left out.
 */
export async function readTranscriptEnds(sql: Sql, key: SessionKey, bounds: EndsBounds): Promise<EndMessage[]> {
  const half = Math.ceil(bounds.messageBytes / 2);
  // Postgres reads a length without loading the text, which is stored out of line when it is long.
  return sql<EndMessage[]>`
    select seq, role, case when octet_length(content) <= ${bounds.messageBytes} then content
      else left(content, ${half}) || ' […] ' || right(content, ${half}) end as content
    from (
      select seq, role, content, sum(bytes) over (order by seq) as so_far, sum(bytes) over (order by seq desc) as to_come
      from messages cross join lateral (
        select least(octet_length(content), ${bounds.messageBytes}) + ${bounds.overheadBytes} as bytes
      ) as counted
      where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId}
    ) as summed
    where so_far <= ${bounds.beginningBytes} or to_come <= ${bounds.endBytes}
    order by seq`;
}

/** Whether the user wrote or said anything in a conversation. */
export async function hasUserMessage(sql: Sql, key: SessionKey): Promise<boolean> {
  const said = await sql`
    select from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and role = 'user' limit 1`;
  return said.length > 0;
}
