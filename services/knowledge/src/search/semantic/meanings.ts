import type { Database } from "@parley/shared/db/database";
import { listBaseVectors } from "../../store/vectors.ts";
import type { Embedder } from "./embedder.ts";
import type { NearChunk, VectorIndex } from "./vector-index.ts";

/** Searches by meaning. */
export interface Meanings {
  /** The chunks whose meaning is closest to the query, the closest first. @throws when the embedder or the database fails */
  search(ownerId: string, baseIds: readonly string[], query: string, signal: AbortSignal): Promise<NearChunk[]>;
}

/** Chunks that are found at most: more than are fused, so that most others have their similarity too. */
const FOUND_MAX = 200;

export function createMeanings(db: Database, embedder: Embedder, index: () => Promise<VectorIndex>): Meanings {
  return {
    search: async (ownerId, baseIds, query, signal) => {
      const bases = await listBaseVectors(db, ownerId, baseIds);
      const byModel = Map.groupBy(bases, ({ model }) => model ?? embedder.model);
      const found = await Promise.all(
        [...byModel].map(async ([model, served]) => {
          const [vector] = await embedder.embed(model, [query], signal);
          return vector ? (await index()).nearest({ ownerId, bases: served, model, vector, limit: FOUND_MAX }) : [];
        }),
      );
      return found.flat().sort((one, other) => other.similarity - one.similarity);
    },
  };
}
