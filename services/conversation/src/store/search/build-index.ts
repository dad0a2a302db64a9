import type { Database, Sql } from "@parley/shared/db/database";
import { statusFact } from "./facts.ts";
import { lockIndex } from "./lock-index.ts";
import { BLOCK_PARTS, PART } from "./number-set.ts";
import { insertPart, insertTerms, mergeBlock } from "./terms.ts";

/** Conversations whose statuses one transaction indexes. */
const STATUSES = 4_096;

/** Indexes the statuses of conversations that have ended since they were numbered. */
export async function indexStatuses(db: Database, ownerId: string): Promise<void> {
  while ((await indexSomeStatuses(db, ownerId)) === STATUSES);
}

async function indexSomeStatuses(db: Database, ownerId: string): Promise<number> {
  return db.begin(async (tx) => {
    const { indexed } = await lockIndex(tx, ownerId);
    const ended = await tx<{ number: number; status: string }[]>`
      select number, status from search_open
      where owner_id = ${ownerId} and status <> 'IN_PROGRESS' order by number limit ${STATUSES}`;
    if (ended.length === 0) return 0;
    // The parts that are yet to be indexed read the statuses themselves.
    const parts = Map.groupBy(
      ended.filter(({ number }) => number < indexed),
      ({ number }) => Math.floor(number / PART),
    );
    for (const [part, rows] of parts) {
      const places = Map.groupBy(rows, ({ status }) => statusFact(status))
        .entries()
        .map(([fact, having]): [string, number[]] => [fact, having.map(({ number }) => number - part * PART)]);
      await insertTerms(tx, ownerId, part, "fact", [...places]);
    }
    await tx`
      delete from search_open
      where owner_id = ${ownerId} and number = any(${ended.map(({ number }) => number)}::integer[])`;
    return ended.length;
  }) as Promise<number>;
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
interface StaleBlock {
  ownerId: string;
  block: number;
}

/** Blocks with conversations deleted before `before`, or without any left. */
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
    )`;
}
