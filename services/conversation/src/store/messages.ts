import type { TurnLatency } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { readBoundedPage } from "@parley/shared/db/bounded-page";
import type { Fragment, Sql } from "@parley/shared/db/database";
import type { MESSAGE_DELIVERIES, ROLES } from "@parley/shared/domain/api-names";
import type { ReplyKnowledge } from "./reply-knowledge.ts";
import type { SessionKey } from "./session-key.ts";
import type { ToolCallRow } from "./turns/kept-tool-calls.ts";

export interface MessageRow {
  conversationId: string;
  seq: number;
  role: keyof typeof ROLES;
  content: string;
  createdAt: Date;
  /** When the first word of a spoken message was heard, if measured. */
  startedAt: Date | null;
  /** The latency of a spoken reply, if measured. */
  latency: Partial<TurnLatency> | null;
  /** The status of a message that was sent over a channel, if reported. */
  deliveryStatus: keyof typeof MESSAGE_DELIVERIES | null;
  deliveryError: string | null;
  /** What the runtime of a spoken reply said itself; null for nothing. */
  fillers: readonly FillerPlace[] | null;
  /** Whether it is what a runtime said itself, of a message whose parts are shown. */
  isFiller?: boolean;
  /** Facts of a model's reply, where a single conversation is read. */
  provider?: string | null;
  model?: string | null;
  inputTokens?: number | null;
  outputTokens?: number | null;
  costUsdMicros?: number | null;
  firstWordMs?: number | null;
  totalMs?: number | null;
  partial?: boolean;
  partialReason?: string | null;
  /** Whether an operator wrote it. */
  byOperator?: boolean;
  /** Only where it is asked for; null for nothing. */
  knowledge?: ReplyKnowledge | null;
  toolCalls?: readonly ToolCallRow[];
}

/** No context window holds more messages than this. */
const CONTEXT_MESSAGES_MAX = 1_000;

/** From which character of a message to which one its runtime spoke by itself. */
export type FillerPlace = readonly [from: number, to: number];

export type Said = Pick<MessageRow, "role" | "content">;
export type SaidAt = Pick<MessageRow, "role" | "content" | "seq" | "fillers">;

/** The newest messages before `beforeSeq` that together fit in `maxBytes`, oldest first. */
export async function listMessagesBefore(
  sql: Sql,
  key: SessionKey,
  beforeSeq: number,
  maxBytes: number,
): Promise<SaidAt[]> {
  return sql<SaidAt[]>`
    select seq, role, content, fillers from ${newestBefore(sql, key, beforeSeq)} where bytes <= ${maxBytes} order by seq`;
}

/** The same as an SQL table, with each message's `seq` and the running total `bytes` from the newest message on. */
export function newestBefore(sql: Sql, key: SessionKey | Record<keyof SessionKey, Fragment>, beforeSeq: number) {
  // Postgres reads a length without loading the text, which is stored out of line when it is long.
  return sql`(
    select seq, role, content, fillers, sum(octet_length(content)) over (order by seq desc) as bytes from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq < ${beforeSeq}
    order by seq desc limit ${CONTEXT_MESSAGES_MAX}
  ) as newest`;
}

export async function findMessage(
  sql: Sql,
  key: SessionKey,
  seq: number,
): Promise<Pick<MessageRow, "content" | "knowledge"> | null> {
  const [row] = await sql<Pick<MessageRow, "content" | "knowledge">[]>`
    select content, knowledge from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq = ${seq}`;
  return row ?? null;
}

/** Whether the whole reply of a turn is stored, not just a checkpoint of it. */
export async function isReplyStored(
  sql: Sql,
  { ownerId, conversationId, replySeq }: SessionKey & { replySeq: number },
  content: string,
): Promise<boolean> {
  const replies = await sql`
    select from messages
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and seq = ${replySeq}
      and role = 'assistant' and content = ${content} and total_ms is not null`;
  return replies.length > 0;
}

/**
 * The most of a transcript that is read at once, newest messages first: 700,000 words. A user's own model can produce
 * more, which would exhaust a process's memory.
 */
export const TRANSCRIPT_BYTES_MAX = 4 * 1024 * 1024;
/**
 * A message counts this much beside its text. It takes a fifth of that in memory and on the wire, but each message also costs
 * three microseconds of several event loops: of very short ones, the newest 8,388 are read.
 */
const MESSAGE_BYTES = 500;

/**
 * The newest messages of a conversation up to the limit, oldest first, with what its replies cost.
 * @param withKnowledge with what the models of replies were given of knowledge bases, which counts towards the limit
 */
export function listTranscript(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  withKnowledge: boolean,
): Promise<MessageRow[]> {
  const knowledge = withKnowledge ? sql`, knowledge` : sql``;
  return sql<MessageRow[]>`
    select ${messageColumns(sql)}, ${replyColumns(sql)} ${knowledge}
    from ${newestMessages(sql, ownerId, [conversationId], withKnowledge)} messages
    order by seq`;
}

/** Some messages of a conversation in the same form, with their knowledge, in any order. */
export function listMessages(
  sql: Sql,
  { ownerId, conversationId }: SessionKey,
  seqs: readonly number[],
): Promise<MessageRow[]> {
  return sql<MessageRow[]>`
    select ${messageColumns(sql)}, ${replyColumns(sql)}, knowledge from messages
    where owner_id = ${ownerId} and conversation_id = ${conversationId} and seq = any(${seqs as number[]}::integer[])`;
}

/** The transcripts of a page of a list, each oldest first. @throws ServiceError condition when they are too large together */
export async function listTranscriptsOfPage(
  sql: Sql,
  ownerId: string,
  conversationIds: readonly string[],
): Promise<Map<string, MessageRow[]>> {
  if (conversationIds.length === 0) return new Map();
  const rows = await readBoundedPage<MessageRow>(sql, {
    rows: sql`select ${messageColumns(sql)} from ${newestMessages(sql, ownerId, conversationIds)} messages`,
    bytes: sql`octet_length(content) + ${MESSAGE_BYTES}::integer`,
    order: sql`order by conversation_id, seq`,
  });
  return byConversation(rows);
}

const messageColumns = (sql: Sql) => sql`
  conversation_id, seq, role, content, created_at, started_at, latency, delivery_status, delivery_error, fillers, by_operator`;

const replyColumns = (sql: Sql) => sql`
  provider, model, input_tokens, output_tokens, cost_usd_micros, first_word_ms, total_ms, partial, partial_reason`;

/** SQL table of each conversation's newest messages, up to the limit. */
function newestMessages(
  sql: Sql,
  ownerId: string,
  conversationIds: readonly string[],
  withKnowledge = false,
  bytesMax = TRANSCRIPT_BYTES_MAX,
) {
  const ofKnowledge = withKnowledge ? sql`+ coalesce(octet_length(knowledge::text), 0)` : sql``;
  return sql`(
    select * from (
      select *, sum(octet_length(content) + ${MESSAGE_BYTES}::integer ${ofKnowledge})
        over (partition by conversation_id order by seq desc) as bytes
      from messages
      where owner_id = ${ownerId} and conversation_id = any(${conversationIds as string[]}::uuid[])
    ) as newest_first
    where bytes <= ${bytesMax}
  )`;
}

function byConversation(rows: readonly MessageRow[]): Map<string, MessageRow[]> {
  const transcripts = new Map<string, MessageRow[]>();
  for (const row of rows) {
    const transcript = transcripts.get(row.conversationId);
    if (transcript) transcript.push(row);
    else transcripts.set(row.conversationId, [row]);
  }
  return transcripts;
}

/** A message with what became of it; null if there is none. */
export async function findDelivered(sql: Sql, key: SessionKey, seq: number): Promise<MessageRow | null> {
  const [row] = await sql<MessageRow[]>`
    select ${messageColumns(sql)} from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq = ${seq}`;
  return row ?? null;
}

/**
 * Stores what became of a message, unless what is stored is as late: sent, delivered, read. Only a message that has not
 * arrived can fail. @returns whether it was stored
 */
export async function setDelivery(
  sql: Sql,
  key: SessionKey & { seq: number },
  status: NonNullable<MessageRow["deliveryStatus"]>,
  error: string | null,
): Promise<boolean> {
  const { count } = await sql`
    update messages set delivery_status = ${status}, delivery_error = ${error}
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and seq = ${key.seq} and role = 'assistant'
      and case when ${status} = 'failed' then coalesce(delivery_status, 'sent') = 'sent'
        else coalesce(array_position('{sent,delivered,read}', delivery_status), 0)
          < array_position('{sent,delivered,read}', ${status}::text) end`;
  return count > 0;
}

export interface UsageRow {
  replies: number;
  inputTokens: number;
  outputTokens: number;
  /** In millionths of a US dollar, of the replies whose cost is known. */
  costUsdMicros: number;
  /** Replies whose cost is unknown. */
  unpricedReplies: number;
  firstWordMs: number;
  totalMs: number;
}

const usageColumns = (sql: Sql) => sql`
  count(*) as replies, coalesce(sum(input_tokens), 0) as input_tokens,
  coalesce(sum(output_tokens), 0) as output_tokens, coalesce(sum(cost_usd_micros), 0)::bigint as cost_usd_micros,
  count(*) filter (where cost_usd_micros is null) as unpriced_replies, coalesce(avg(first_word_ms), 0)::integer as first_word_ms,
  coalesce(avg(total_ms), 0)::integer as total_ms`;

/** The same for each conversation of a page of a list. */
export async function listUsageOfPage(
  sql: Sql,
  ownerId: string,
  conversationIds: readonly string[],
): Promise<Map<string, UsageRow>> {
  const rows = await sql<({ conversationId: string } & UsageRow)[]>`
    select listed.conversation_id, usage.*
    from unnest(${conversationIds}::uuid[]) as listed (conversation_id)
      cross join lateral (
        select ${usageColumns(sql)} from messages
        where owner_id = ${ownerId} and conversation_id = listed.conversation_id and provider is not null offset 0
      ) as usage`;
  return new Map(rows.map(({ conversationId, ...usage }) => [conversationId, usage]));
}

/** Totals and means over a session's model replies. */
export async function sumUsage(sql: Sql, key: SessionKey): Promise<UsageRow> {
  const [row] = await sql<[UsageRow]>`
    select ${usageColumns(sql)}
    from messages
    where owner_id = ${key.ownerId} and conversation_id = ${key.conversationId} and provider is not null`;
  return row;
}
