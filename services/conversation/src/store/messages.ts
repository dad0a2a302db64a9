import type { ROLES } from "@parley/shared/api-names";
import type { Sql } from "@parley/shared/db/database";
import type { SessionKey } from "./turns.ts";

export interface MessageRow {
  conversationId: string;
  seq: number;
  role: keyof typeof ROLES;
  content: string;
  createdAt: Date;
}

/** More messages than any context window holds are never read for one. */
const CONTEXT_MESSAGES_MAX = 1_000;

export type Said = Pick<MessageRow, "role" | "content">;

/** What was said before message `beforeSeq`, oldest first: the newest messages of `maxBytes` together. */
export async function listMessagesBefore(
  sql: Sql,
  key: SessionKey,
  beforeSeq: number,
  maxBytes: number,
): Promise<Said[]> {
  return sql<Said[]>`
    select role, content from ${newestBefore(sql, key, beforeSeq)} where bytes <= ${maxBytes} order by seq`;
}

/** The same as an SQL table with each message's `seq`, and the `bytes` of it and all newer ones together. */
export function newestBefore(sql: Sql, key: SessionKey, beforeSeq: number) {
  // A length is read without the text, which lies elsewhere when it is long.
  return sql`(
    select seq, role, content, sum(octet_length(content)) over (order by seq desc) as bytes from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq < ${beforeSeq}
    order by seq desc limit ${CONTEXT_MESSAGES_MAX}
  ) as newest`;
}

export async function findMessage(sql: Sql, key: SessionKey, seq: number): Promise<Pick<MessageRow, "content"> | null> {
  const [row] = await sql<Pick<MessageRow, "content">[]>`
    select content from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq = ${seq}`;
  return row ?? null;
}

/** The transcripts of some conversations of one owner, each oldest first. */
export async function listTranscripts(
  sql: Sql,
  ownerId: string,
  conversationIds: readonly string[],
): Promise<Map<string, MessageRow[]>> {
  const transcripts = new Map<string, MessageRow[]>();
  if (conversationIds.length === 0) return transcripts;
  const rows = await sql<MessageRow[]>`
    select conversation_id, seq, role, content, created_at from messages
    where owner_id = ${ownerId} and conversation_id = any(${conversationIds as string[]}::uuid[])
    order by conversation_id, seq`;
  for (const row of rows) {
    const transcript = transcripts.get(row.conversationId);
    if (transcript) transcript.push(row);
    else transcripts.set(row.conversationId, [row]);
  }
  return transcripts;
}

export interface UsageRow {
  replies: number;
  inputTokens: number;
  outputTokens: number;
  firstWordMs: number;
  totalMs: number;
}

/** Totals and means over the replies a model gave in a session. */
export async function sumUsage(sql: Sql, key: SessionKey): Promise<UsageRow> {
  const [row] = await sql<[UsageRow]>`
    select count(*) as replies, coalesce(sum(input_tokens), 0) as input_tokens,
      coalesce(sum(output_tokens), 0) as output_tokens, coalesce(avg(first_word_ms), 0)::integer as first_word_ms,
      coalesce(avg(total_ms), 0)::integer as total_ms
    from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and provider is not null`;
  return row;
}
