import type { Database } from "@parley/shared/db/database";
import { createNearestIndex, listNearest } from "../../store/pgvector.ts";
import type { VectorIndex } from "./vector-index.ts";

/** Searches with the extension pgvector, by an index for each model that is made when it is first searched. */
export function pgvectorIndex(db: Database): VectorIndex {
  const created = new Map<string, Promise<void>>();
  return {
    nearest: async ({ ownerId, bases, model, vector, limit }) => {
      const key = `${model} ${vector.length}`;
      // Until it is there, the vectors of a base are compared one by one.
      if (!created.has(key)) {
        const creating = createNearestIndex(db, model, vector.length).catch(() => void created.delete(key));
        created.set(key, creating);
      }
      return listNearest(db, { ownerId, baseIds: bases.map(({ baseId }) => baseId), model, vector, limit });
    },
  };
}
