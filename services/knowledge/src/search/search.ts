import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { type FoundChunk, listFoundChunks } from "../store/chunks.ts";
import { hasPgvector } from "../store/pgvector.ts";
import type { RankedChunk } from "../store/rank-words.ts";
import { fuse } from "./fusion.ts";
import { searchWords } from "./lexical.ts";
import type { EmbeddingsConfig } from "./semantic/config.ts";
import { embedQueue, embedSweep, enqueueEmbedding } from "./semantic/embed-queue.ts";
import { createEmbedder } from "./semantic/embedder.ts";
import { createMeanings } from "./semantic/meanings.ts";
import { pausing } from "./semantic/pausing.ts";
import { pgvectorIndex } from "./semantic/pgvector.ts";
import { scanIndex } from "./semantic/scan.ts";
import type { NearChunk, VectorIndex } from "./semantic/vector-index.ts";

interface SearchQuery {
  ownerId: string;
  baseIds: readonly string[];
  query: string;
  maxChunks: number;
  /** The only language of the documents to be searched; all if not given. */
  language?: string | undefined;
  /** Chunks with a lower score are left out. */
  minScore?: number | undefined;
  /** For everything, in milliseconds. */
  withinMs: number;
  signal: AbortSignal;
}

export interface ScoredChunk extends Omit<FoundChunk, "language"> {
  /** The larger of the two, from 0 to 1: comparable between queries, not the order. */
  score: number;
  /** The part of the question's words, by how much they tell, that the chunk has. */
  lexicalScore: number;
  /** The cosine; null for a chunk that was not among the closest. */
  semanticScore: number | null;
}

export interface SearchAnswer {
  /** The best first. */
  chunks: ScoredChunk[];
  /** Whether meaning was searched too: `missed` if the embedder failed or took too long. */
  semantic: "ok" | "off" | "missed";
}

export interface Search {
  /**
   * Searches bases by words and, with an embedder, by meaning. Meaning never makes a search fail or late.
   * @throws ServiceError deadline when the words took too long; the signal's reason
   */
  search(wanted: SearchQuery): Promise<SearchAnswer>;
  /** To be called when a document's chunks were replaced, so that they get their vectors at once. */
  changed(ownerId: string, baseId: string): Promise<void>;
  queues: Record<string, Queue>;
  sweeps: Sweep[];
}

interface SearchContext {
  db: Database;
  clock: Clock;
  log: Logger;
  embeddings: EmbeddingsConfig;
}

/** Chunks of each ranking that are fused. */
const FUSED = 50;
/** Of the time of a search, for the last read. */
const LAST_READ_MS = 50;

export function createSearch({ db, clock, log, embeddings }: SearchContext): Search {
  const embedder = createEmbedder(embeddings);
  let index: Promise<VectorIndex> | null = null;
  const openIndex = () => {
    index ??= hasPgvector(db).then((has) => scanIndex(db, has ? pgvectorIndex(db) : null));
    index.catch(() => {
      index = null;
    });
    return index;
  };
  const meanings = embedder && pausing(createMeanings(db, embedder, openIndex), log);

  return {
    search: async (wanted) => {
      const { ownerId, baseIds, query, maxChunks, language, minScore = 0, signal, withinMs } = wanted;
      signal.throwIfAborted();
      const late = AbortSignal.timeout(Math.max(1, withinMs));
      const lateMeaning = AbortSignal.timeout(Math.max(1, withinMs - LAST_READ_MS));
      const near = meanings
        ? before(meanings.search(ownerId, baseIds, query, AbortSignal.any([signal, lateMeaning])), lateMeaning).catch(
            () => null,
          )
        : null;
      const read = async () => {
        const words = await searchWords(db, { ownerId, baseIds, query, language, limit: FUSED });
        const meaning = await near;
        return { found: await fused(db, ownerId, words, meaning ?? [], maxChunks, language), meaning };
      };
      const { found, meaning } = await before(before(read(), signal), late).catch((error) => {
        signal.throwIfAborted();
        throw late.aborted ? new ServiceError("deadline", "The search took too long") : error;
      });
      return {
        chunks: found.filter(({ score }) => score >= minScore).slice(0, maxChunks),
        semantic: near === null ? "off" : meaning === null ? "missed" : "ok",
      };
    },
    changed: async (ownerId, baseId) => {
      if (embedder) await enqueueEmbedding(db, clock, [{ ownerId, baseId }]);
    },
    queues: embedder ? embedQueue(db, log, embedder) : {},
    sweeps: embedder ? [embedSweep(db, clock, embedder)] : [],
  };
}

/** @throws the signal's reason when it fires first */
function before<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const give = () => reject(signal.reason);
  signal.addEventListener("abort", give);
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", give));
}

async function fused(
  db: Database,
  ownerId: string,
  words: readonly RankedChunk[],
  meaning: readonly NearChunk[],
  maxChunks: number,
  language: string | undefined,
): Promise<ScoredChunk[]> {
  const lexical = new Map(words.map(({ chunkId, score }) => [chunkId, score]));
  const similar = new Map(meaning.map(({ chunkId, similarity }) => [chunkId, Math.min(1, Math.max(0, similarity))]));
  const ids = fuse([[...lexical.keys()], meaning.slice(0, FUSED).map(({ chunkId }) => chunkId)]);
  // Some may be of deleted documents, or of another language.
  const rows = await listFoundChunks(db, ownerId, ids.slice(0, maxChunks + FUSED));
  const found = new Map(rows.map((row) => [row.chunkId, row]));
  return ids.flatMap((id) => {
    const row = found.get(id);
    if (!row || (language !== undefined && row.language !== language)) return [];
    const { language: _, ...chunk } = row;
    const lexicalScore = lexical.get(id) ?? 0;
    const semanticScore = similar.get(id) ?? null;
    return [{ ...chunk, score: Math.max(lexicalScore, semanticScore ?? 0), lexicalScore, semanticScore }];
  });
}
