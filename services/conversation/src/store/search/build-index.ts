import type { Database, Sql } from "@parley/shared/db/database";
import { BLOCK_PARTS, PART } from "../../search/number-set.ts";
import { SEPARATOR } from "../../search/terms.ts";
import { TRANSCRIPT_BYTES_MAX } from "../messages.ts";
import { searchedValues } from "./searched-values.ts";
import { insertPart, mergeBlock } from "./terms.ts";

/** Conversations that one transaction numbers, and the bytes of their texts unless a single text is longer. */
const BATCH = 1_024;
const BATCH_BYTES = 16 * 1024 * 1024;

/** Lets only one process change an owner's index at a time; held until the transaction ends. */
async function lockIndex(tx: Sql, ownerId: string): Promise<{ numbered: number; indexed: number }> {
  // Reading a whole block's texts takes long.
  await tx`set local statement_timeout = 0`;
  await tx`insert into search_owners (owner_id) values (${ownerId}) on conflict (owner_id) do nothing`;
  const [state] = await tx<[{ numbered: number; indexed: number }]>`
    select numbered, indexed from search_owners where owner_id = ${ownerId} for update`;
  return state;
}

/**
 * Numbers the ended conversations and stores their texts, for long ones the newest messages.
 * @param isOver called after each batch that numbered conversations
 * @returns whether all were numbered
 */
export async function numberEnded(db: Database, ownerId: string, isOver = () => false): Promise<boolean> {
  for (let last: string | null = NIL; last !== null; ) {
    const batch = await numberBatch(db, ownerId, last);
    if (batch.numbered > 0 && isOver()) return false;
    last = batch.last;
  }
  return true;
}

const NIL = "00000000-0000-0000-0000-000000000000";

interface NumberedBatch {
  /** The last conversation examined; null when there is none. */
  last: string | null;
  numbered: number;
}

/** The next waiting conversations after `last`. */
async function numberBatch(db: Database, ownerId: string, last: string): Promise<NumberedBatch> {
  return db.begin(async (tx) => {
    const { numbered } = await lockIndex(tx, ownerId);
    const [batch] = await tx<NumberedBatch[]>`
      with waiting as materialized (
        select conversation_id from search_waiting
        where owner_id = ${ownerId} and conversation_id > ${last} order by conversation_id limit ${BATCH}
      ), ended as materialized (
        select conversation_id, conversation.*
        from waiting cross join lateral (
          select created_at, metadata, variables, to_mobile_number, from_mobile_number, room_url, room_name from conversations
          where owner_id = ${ownerId} and conversation_id = waiting.conversation_id and status <> 'IN_PROGRESS'
          -- One that is being deleted leaves the index by its trigger, which has to find it in one place.
          for key share skip locked
        ) as conversation
      ), sized as (
        select ended.*, sum(bytes) over (order by conversation_id) - bytes as bytes_before
        from ended cross join lateral (
          select least(coalesce(sum(octet_length(content)), 0), ${TRANSCRIPT_BYTES_MAX}::integer)
            + pg_column_size(metadata) + pg_column_size(variables) as bytes
          from messages
          where messages.owner_id = ${ownerId} and messages.conversation_id = ended.conversation_id
        ) as size
      ), numbering as materialized (
        select * from sized where bytes_before < ${BATCH_BYTES}
      ), taken as (
        delete from search_waiting
        where owner_id = ${ownerId} and conversation_id = any(array(select conversation_id from numbering))
      ), added as (
        insert into search_documents (owner_id, number, conversation_id, text)
        select ${ownerId}, ${numbered}::integer - 1 + row_number() over (order by created_at), conversation_id,
          lower(concat_ws(
            ${SEPARATOR},
            (select string_agg(value, ${SEPARATOR}) from ${searchedValues(tx)} as searched),
            (
              select string_agg(content, ${SEPARATOR} order by seq)
              from (
                select seq, content, sum(octet_length(content)) over (order by seq desc) as bytes from messages
                where messages.owner_id = ${ownerId} and messages.conversation_id = numbering.conversation_id
              ) as newest_first
              where bytes <= ${TRANSCRIPT_BYTES_MAX}
            )
          ))
        from numbering
        returning 1
      ), counted as (
        update search_owners set numbered = numbered + (select count(*) from added) where owner_id = ${ownerId}
      )
      select (select count(*) from numbering)::integer as numbered, case
        when (select count(*) from numbering) < (select count(*) from ended)
        then (select conversation_id from numbering order by conversation_id desc limit 1)
        else (select conversation_id from waiting order by conversation_id desc limit 1)
      end as last`;
    return batch ?? { last: null, numbered: 0 };
  }) as Promise<NumberedBatch>;
}

/**
 * Indexes the next part if all its numbers are assigned, and merges the block that it completes. Returns false when
 * there is no such part.
 */
export async function indexNextPart(db: Database, ownerId: string): Promise<boolean> {
  return db.begin(async (tx) => {
    const { numbered, indexed } = await lockIndex(tx, ownerId);
    if (numbered < indexed + PART) return false;
    const part = indexed / PART;
    await insertPart(tx, ownerId, part);
    await tx`update search_owners set indexed = ${indexed + PART} where owner_id = ${ownerId}`;
    if ((part + 1) % BLOCK_PARTS === 0) await mergeBlock(tx, ownerId, Math.floor(part / BLOCK_PARTS));
    await settleWords(tx);
    return true;
  }) as Promise<boolean>;
}

/**
 * Rebuilds a block from the conversations that remain, so that no term of deleted ones is left.
 */
export async function rebuildBlock(db: Database, ownerId: string, block: number): Promise<void> {
  await db.begin(async (tx) => {
    const { indexed } = await lockIndex(tx, ownerId);
    const first = block * BLOCK_PARTS;
    const end = Math.min(first + BLOCK_PARTS, indexed / PART);
    // First, so that what is deleted while the texts are read is handled next time.
    await tx`
      delete from search_gone
      where owner_id = ${ownerId} and number >= ${first * PART} and number < ${(first + BLOCK_PARTS) * PART}`;
    await tx`delete from search_terms where owner_id = ${ownerId} and block = ${block}`;
    await tx`delete from search_parts where owner_id = ${ownerId} and part >= ${first} and part < ${end}`;
    for (let part = first; part < end; part++) await insertPart(tx, ownerId, part);
    if (end === first + BLOCK_PARTS) await mergeBlock(tx, ownerId, block);
    await settleWords(tx);
  });
}

/** Flushes the index's list of pending words, so that no search has to read it. */
async function settleWords(tx: Sql): Promise<void> {
  await tx`select gin_clean_pending_list('search_terms_words')`;
}

/** A block to rebuild. */
export interface StaleBlock {
  ownerId: string;
  block: number;
}

/** Blocks with conversations deleted before `before`, or without any left, and blocks without seams. */
export async function listStaleBlocks(sql: Sql, before: Date): Promise<StaleBlock[]> {
  return sql<StaleBlock[]>`
    select owner_id, block
    from (
      select owner_id, number / ${PART * BLOCK_PARTS} as block, min(gone_at) as first_gone_at from search_gone group by 1, 2
    ) as gone
    where first_gone_at < ${before} or not exists (
      select 1 from search_documents as document
      where document.owner_id = gone.owner_id and number >= block * ${PART * BLOCK_PARTS}
        and number < (block + 1) * ${PART * BLOCK_PARTS}
    )
    union
    select owner_id, part / ${BLOCK_PARTS} from search_parts where not has_seams`;
}
