import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { enqueueJobsOnce } from "@parley/shared/jobs/store";
import type { Sweep } from "@parley/shared/jobs/sweeps";
import { timeSlice } from "@parley/shared/jobs/time-slice";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { backOff } from "@parley/shared/retry/back-off";
import type { BaseKey } from "../../store/bases.ts";
import {
  beginEmbedding,
  countEmbedded,
  deleteOtherModels,
  insertEmbeddings,
  listIncompleteBases,
  listUnembedded,
  noteVectors,
  serveModel,
} from "../../store/vectors.ts";
import { type Embedder, EmbedderError } from "./embedder.ts";

const QUEUE = "embed-chunks";
/** Texts in one request: about 80 KB. */
const BATCH = 64;
const BATCH_WITHIN_MS = 60_000;
const SWEEP_MS = 60_000;
const SWEPT_BASES = 1_000;
const DELETED_ROWS = 1_000;

/** Gives the chunks of bases their vectors, a base of an owner at a time. */
export function embedQueue(db: Database, log: Logger, embedder: Embedder): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 4,
      perOwner: 1,
      retryDelayMs: backOff(5_000, 600_000),
      run: async ({ ownerId, payload }, lease) => {
        const base: BaseKey = { ownerId, baseId: (payload as { baseId: string }).baseId };
        const isOver = timeSlice(lease);
        await beginEmbedding(db, base);
        if (!(await embedBase(db, log, embedder, base, lease, isOver))) return HAND_OVER;
        await countEmbedded(db, base, embedder.model);
        if (!(await serveModel(db, base, embedder.model))) return HAND_OVER;
        while ((await deleteOtherModels(db, base, embedder.model, DELETED_ROWS)) > 0) if (isOver()) return HAND_OVER;
      },
    },
  };
}

/** Finds the bases whose chunks lack vectors: after a change of the model, and where a process died before it enqueued the job. */
export function embedSweep(db: Database, clock: Clock, embedder: Embedder): Sweep {
  return {
    name: "embed-incomplete-bases",
    everyMs: SWEEP_MS,
    run: async () => enqueueEmbedding(db, clock, await listIncompleteBases(db, embedder.model, SWEPT_BASES)),
  };
}

export function enqueueEmbedding(db: Database, clock: Clock, bases: readonly BaseKey[]): Promise<void> {
  const dueAt = clock.now();
  return enqueueJobsOnce(
    db,
    bases.map(({ ownerId, baseId }) => ({
      ownerId,
      jobId: `embed:${baseId}`,
      queue: QUEUE,
      payload: { baseId },
      dueAt,
    })),
  );
}

/** @returns whether all chunks were seen */
async function embedBase(
  db: Database,
  log: Logger,
  embedder: Embedder,
  base: BaseKey,
  lease: AbortSignal,
  isOver: () => boolean,
): Promise<boolean> {
  const { model } = embedder;
  for (let after = ""; ; ) {
    const chunks = await listUnembedded(db, base, { model, after, limit: BATCH });
    after = chunks.at(-1)?.chunkId ?? "";
    if (after === "") return true;
    const vectors = await embedAll(embedder, log, chunks, lease);
    await insertEmbeddings(db, base.ownerId, model, vectors);
    await noteVectors(db, base);
    if (isOver()) {
      await countEmbedded(db, base, model);
      return false;
    }
  }
}

interface Embedded {
  chunkId: string;
  vector: Float32Array;
}

/** A text that the server refuses is left out: words find it. @throws EmbedderError when it cannot be asked */
async function embedAll(
  embedder: Embedder,
  log: Logger,
  chunks: readonly { chunkId: string; heading: string; text: string }[],
  lease: AbortSignal,
): Promise<Embedded[]> {
  const texts = chunks.map(({ heading, text }) => (heading === "" ? text : `${heading}\n${text}`));
  try {
    const signal = AbortSignal.any([lease, AbortSignal.timeout(BATCH_WITHIN_MS)]);
    const vectors = await embedder.embed(embedder.model, texts, signal);
    return chunks.map(({ chunkId }, at) => ({ chunkId, vector: vectors[at] as Float32Array }));
  } catch (error) {
    if (!(error instanceof EmbedderError && error.isRefusal)) throw error;
    if (chunks.length === 1) {
      log.warn({ chunk_id: chunks[0]?.chunkId, reason: error.message }, "the embeddings' server refuses a chunk");
      return [];
    }
    const middle = Math.ceil(chunks.length / 2);
    return [
      ...(await embedAll(embedder, log, chunks.slice(0, middle), lease)),
      ...(await embedAll(embedder, log, chunks.slice(middle), lease)),
    ];
  }
}
