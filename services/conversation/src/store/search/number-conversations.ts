import type { Database, Fragment, Sql } from "@parley/shared/db/database";
import { TRANSCRIPT_BYTES_MAX } from "../messages.ts";
import { lockIndex } from "./lock-index.ts";
import { searchedValues } from "./searched-values.ts";
import { SEPARATOR } from "./text-terms.ts";

/** Conversations that one transaction examines, and the bytes of the texts that it stores unless a single text is longer. */
const ENDED = { batch: 1_024, bytes: 16 * 1024 * 1024 };
/** Less for silent ones: if one is continued at that moment, its turn waits for the transaction. */
const SILENT = { batch: 256, bytes: 1024 * 1024 };

/**
 * Numbers the ended conversations and stores their texts, for long ones the newest messages.
 * @param isOver called after each batch that numbered conversations
 * @returns whether all were numbered
 */
export function numberEnded(db: Database, ownerId: string, isOver = () => false): Promise<boolean> {
  return numberAll((last) => numberBatch(db, ownerId, last, null), isOver);
}

/**
 * Does the same with conversations that go on and have been silent since `silentSince`. One that is continued leaves the index by
 * its trigger (0001_conversation).
 */
export function numberSilent(db: Database, ownerId: string, silentSince: Date, isOver = () => false): Promise<boolean> {
  return numberAll((last) => numberBatch(db, ownerId, last, silentSince), isOver);
}

const NIL = "00000000-0000-0000-0000-000000000000";

interface NumberedBatch {
  /** The last conversation examined; null when there is none. */
  last: string | null;
  numbered: number;
}

async function numberAll(next: (last: string) => Promise<NumberedBatch>, isOver: () => boolean): Promise<boolean> {
  for (let last: string | null = NIL; last !== null; ) {
    const batch = await next(last);
    if (batch.numbered > 0 && isOver()) return false;
    last = batch.last;
  }
  return true;
}

/** The next waiting conversations after `last`: the ended ones, or those that go on and have been silent. */
async function numberBatch(
  db: Database,
  ownerId: string,
  last: string,
  silentSince: Date | null,
): Promise<NumberedBatch> {
  const max = silentSince ? SILENT : ENDED;
  return db.begin(async (tx) => {
    const { numbered } = await lockIndex(tx, ownerId);
    const waiting = tx`
      select conversation_id from search_waiting
      where owner_id = ${ownerId} and conversation_id > ${last} order by conversation_id limit ${max.batch}`;
    const silent = silentSince && (await lockSilent(tx, ownerId, waiting, silentSince));
    const [batch] = await tx<NumberedBatch[]>`
      with waiting as materialized (${waiting}), ready as materialized (
        select conversation_id, conversation.*
        from waiting cross join lateral (
          select created_at, metadata, variables, to_mobile_number, from_mobile_number, room_url, room_name from conversations
          where owner_id = ${ownerId} and conversation_id = waiting.conversation_id
            and ${silent ? tx`conversation_id = any(${silent}::uuid[])` : tx`status <> 'IN_PROGRESS'`}
          -- One that is being deleted leaves the index by its trigger, which has to find it in one place.
          for key share skip locked
        ) as conversation
      ), sized as (
        select ready.*, sum(bytes) over (order by conversation_id) - bytes as bytes_before
        from ready cross join lateral (
          select least(coalesce(sum(octet_length(content)), 0), ${TRANSCRIPT_BYTES_MAX}::integer)
            + pg_column_size(metadata) + pg_column_size(variables) as bytes
          from messages
          where messages.owner_id = ${ownerId} and messages.conversation_id = ready.conversation_id
        ) as size
      ), numbering as materialized (
        select * from sized where bytes_before < ${max.bytes}
      ), taken as (
        delete from search_waiting
        where owner_id = ${ownerId} and conversation_id = any(array(select conversation_id from numbering))
      ), added as (
        insert into search_documents (owner_id, number, conversation_id, began_at, text)
        select ${ownerId}, ${numbered}::integer - 1 + row_number() over (order by created_at), conversation_id, created_at,
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
        returning number
      ), ${silent ? notingOpen(tx, ownerId) : tx``} counted as (
        update search_owners set numbered = numbered + (select count(*) from added) where owner_id = ${ownerId}
      )
      select (select count(*) from numbering)::integer as numbered, case
        when (select count(*) from numbering) < (select count(*) from ready)
        then (select conversation_id from numbering order by conversation_id desc limit 1)
        else (select conversation_id from waiting order by conversation_id desc limit 1)
      end as last`;
    return batch ?? { last: null, numbered: 0 };
  }) as Promise<NumberedBatch>;
}

/**
 * Locks the silent ones of some conversations against turns. Their texts are read by the next statement, because this one may not
 * see what was stored just before it had the lock.
 */
async function lockSilent(tx: Sql, ownerId: string, waiting: Fragment, silentSince: Date): Promise<string[]> {
  const rows = await tx<{ conversationId: string }[]>`
    with waiting as materialized (${waiting})
    select conversation_id
    from waiting cross join lateral (
      select from conversations
      where owner_id = ${ownerId} and conversation_id = waiting.conversation_id and status = 'IN_PROGRESS'
        and last_activity_at < ${silentSince} and (turn_until is null or turn_until < ${silentSince})
      for no key update skip locked
    ) as conversation`;
  return rows.map(({ conversationId }) => conversationId);
}

function notingOpen(tx: Sql, ownerId: string) {
  return tx`noted as (
        insert into search_open (owner_id, number, status) select ${ownerId}, number, 'IN_PROGRESS' from added
      ), marked as (
        update conversations set is_numbered_open = true
        where owner_id = ${ownerId} and conversation_id = any(array(select conversation_id from numbering))
      ),`;
}
