import type { Database, Sql } from "@parley/shared/db/database";
import type { ConversationFilter } from "../lists/conversation-filter.ts";
import type { FoundPage, Page } from "../lists/list-page.ts";
import { findIndexed, type Indexed, loadBegan } from "./indexed.ts";
import { type Began, partsOfNewest, slice } from "./newest.ts";
import { countOfPart, numbersOfPart, PART } from "./number-set.ts";
import { SEPARATOR } from "./text-terms.ts";
import { type Found, findAllUnindexed, findNamed, findUnindexed } from "./unindexed.ts";

/**
 * Returns a page of the conversations whose messages or metadata contain a text, and the total number of matches: those
 * in the term index (0001_conversation) and those not indexed yet, in one snapshot. An owner of few conversations has no
 * index, and one statement finds them all.
 */
export async function findSearchedPage(db: Database, filter: ConversationFilter, page: Page): Promise<FoundPage> {
  // No stored text contains the first character, and no text spans the second.
  if (filter.search.includes("\0") || filter.search.includes(SEPARATOR)) return { conversationIds: [], total: 0 };
  if (filter.conversationId !== "") {
    const named = await findNamed(db, filter);
    return { conversationIds: page.number === 1 ? named : [], total: named.length };
  }
  const end = page.number * page.size;
  const all = await findAllUnindexed(db, filter, end);
  if (all) {
    const conversationIds = all.newest.slice(end - page.size).map(({ conversationId }) => conversationId);
    return { conversationIds, total: all.total };
  }
  return db.begin("isolation level repeatable read read only", async (tx) => {
    // A plan for this text, because one for any text is a thousand times slower for some; memory for the matches of a
    // common word; index scans, because the planner knows little of tables that have just been filled.
    const [{ text, indexed }] = await tx<[{ text: string; indexed: number }]>`
      select lower(${filter.search}) as text,
        coalesce((select indexed from search_owners where owner_id = ${filter.ownerId}), 0) as indexed,
        set_config('plan_cache_mode', 'force_custom_plan', true), set_config('work_mem', '64MB', true),
        set_config('enable_seqscan', 'off', true)`;
    const [found, unindexed] = await Promise.all([
      findIndexed(tx, filter, text, indexed),
      findUnindexed(tx, filter, indexed, end),
    ]);
    const total = found.parts.reduce((sum, { part }) => sum + countOfPart(found.numbers, part), unindexed.total);
    return { conversationIds: await listNewest(tx, filter.ownerId, found, unindexed.newest, page), total };
  }) as Promise<FoundPage>;
}

/** Returns a page of the matches, newest first. */
async function listNewest(
  tx: Sql,
  ownerId: string,
  { parts, numbers }: Indexed,
  unindexed: readonly Found[],
  page: Page,
): Promise<string[]> {
  const start = (page.number - 1) * page.size;
  const end = start + page.size;
  const held = partsOfNewest(parts, (part) => countOfPart(numbers, part), end);
  const began = await loadBegan(tx, ownerId, held);
  const candidates: (Began & { number?: number; conversationId?: string })[] = [...unindexed];
  for (const [part, moments] of began) {
    for (const number of numbersOfPart(numbers, part)) {
      candidates.push({ number, began: moments[number - part * PART] ?? Number.NaN });
    }
  }
  const { newer, held: taken } = slice(candidates, start, end);
  const ids = await findIds(
    tx,
    ownerId,
    taken.flatMap(({ number }) => number ?? []),
  );
  return taken
    .map(({ began, number = -1, conversationId = ids.get(number) ?? "" }) => ({ began, conversationId }))
    .sort((a, b) => b.began - a.began || (a.conversationId < b.conversationId ? 1 : -1))
    .slice(start - newer, end - newer)
    .map(({ conversationId }) => conversationId);
}

async function findIds(tx: Sql, ownerId: string, numbers: readonly number[]): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map();
  const rows = await tx<{ number: number; conversationId: string }[]>`
    select number, conversation_id from search_documents
    where owner_id = ${ownerId} and number = any(${numbers as number[]}::integer[])`;
  return new Map(rows.map(({ number, conversationId }) => [number, conversationId]));
}
