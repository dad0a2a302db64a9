import type { Sql } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import {
  deleteChunkRows,
  insertChunks,
  listChunkHashes,
  listChunkIds,
  moveChunks,
  type PlacedChunk,
} from "../store/chunks.ts";
import type { DocumentKey } from "../store/documents.ts";
import { noteChange } from "../store/vectors.ts";
import {
  type ChunkWords,
  changeTotals,
  deleteTotals,
  insertChunkWords,
  listLosses,
  type Totals,
} from "../store/words.ts";
import type { Chunk } from "../text/chunks.ts";
import { stemsOf } from "./stems.ts";
import { termOf } from "./terms.ts";
import { countWords } from "./words.ts";

/** Chunks that one statement writes. */
const ROWS = 200;
/** Chunks that one call deletes. */
const DELETED_ROWS = 500;
/** A count is one byte. */
const COUNT_MAX = 255;

/**
 * Replaces all chunks of a document, with their index. A chunk whose text and language stay keeps its id, and so its vector.
 * @param tx the transaction that makes the document's text the one that serves
 */
export async function replaceChunks(
  tx: Sql,
  document: DocumentKey & { language: string },
  chunks: readonly Chunk[],
): Promise<void> {
  const { ownerId, language } = document;
  const old = await listChunkHashes(tx, document);
  const reusable = Map.groupBy(
    old.filter((chunk) => chunk.language === language),
    ({ hash }) => hash,
  );
  const kept: PlacedChunk[] = [];
  const added: PlacedChunk[] = [];
  for (const [position, chunk] of chunks.entries()) {
    const chunkId = reusable.get(hashOf(chunk))?.shift()?.chunkId;
    if (chunkId) kept.push({ ...chunk, chunkId, position });
    else added.push({ ...chunk, chunkId: newId("chk"), position });
  }
  const keptIds = new Set(kept.map(({ chunkId }) => chunkId));
  const removed = old.map(({ chunkId }) => chunkId).filter((id) => !keptIds.has(id));
  const changes = [await removeChunks(tx, ownerId, removed)];
  await moveChunks(tx, document, kept);
  for (let at = 0; at < added.length; at += ROWS) {
    changes.push(await addChunks(tx, document, added.slice(at, at + ROWS)));
  }
  await changeTotals(tx, document, changes);
  await noteChange(tx, document);
}

/**
 * Deletes a part of the chunks of a document that exists no more, in a transaction of its own.
 * @returns the number deleted; 0 when none is left
 */
export async function deleteChunks(tx: Sql, document: DocumentKey): Promise<number> {
  const ids = await listChunkIds(tx, document, DELETED_ROWS);
  if (ids.length === 0) return 0;
  await changeTotals(tx, document, [await removeChunks(tx, document.ownerId, ids)]);
  return ids.length;
}

/**
 * Deletes what is left of a base that exists no more and has no chunks, in parts.
 * @returns the number of rows deleted; 0 when none is left
 */
export function forgetBase(tx: Sql, base: { ownerId: string; baseId: string }): Promise<number> {
  return deleteTotals(tx, base);
}

/** @returns what their base's totals lose */
async function removeChunks(tx: Sql, ownerId: string, chunkIds: readonly string[]): Promise<Totals> {
  const losses = await listLosses(tx, ownerId, chunkIds);
  await deleteChunkRows(tx, ownerId, chunkIds);
  return losses;
}

/** @returns what their base's totals gain */
async function addChunks(
  tx: Sql,
  document: DocumentKey & { language: string },
  chunks: readonly PlacedChunk[],
): Promise<Totals> {
  const { baseId, language } = document;
  const counted = chunks.map(({ heading, text }) => countWords(`${heading}\n${text}`));
  const stems = await stemsOf(tx, language, [...new Set(counted.flatMap((counts) => [...counts.keys()]))]);
  const terms = new Map([...stems].map(([word, stem]) => [word, termOf(baseId, language, stem)]));
  const words = counted.map((counts, at) => wordsOf(chunks[at]?.chunkId ?? "", counts, terms));
  await insertChunks(tx, document, chunks);
  await insertChunkWords(tx, document, language, words);
  const having = new Map<number, number>();
  for (const { terms: each } of words) for (const term of each) having.set(term, (having.get(term) ?? 0) + 1);
  const length = words.reduce((sum, each) => sum + each.length, 0);
  return { terms: having, languages: new Map([[language, { chunks: chunks.length, words: length }]]) };
}

function wordsOf(chunkId: string, counts: ReadonlyMap<string, number>, terms: ReadonlyMap<string, number>): ChunkWords {
  const frequencies = new Map<number, number>();
  for (const [word, count] of counts) {
    const term = terms.get(word);
    if (term !== undefined) frequencies.set(term, (frequencies.get(term) ?? 0) + count);
  }
  const sorted = [...frequencies].sort(([one], [other]) => one - other);
  return {
    chunkId,
    terms: sorted.map(([term]) => term),
    counts: sorted.map(([, count]) => Math.min(count, COUNT_MAX)),
    length: sorted.reduce((sum, [, count]) => sum + count, 0),
  };
}

function hashOf({ heading, text }: Chunk): string {
  return new Bun.CryptoHasher("md5").update(`${heading}\u0001${text}`).digest("hex");
}
