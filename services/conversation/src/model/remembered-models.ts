import { ownerCache } from "@parley/shared/shares/owner-cache";
import { LRUCache } from "lru-cache";

/** Keeps models that are costly to make: their packages build the response schemas anew for each, a sixth of a turn's CPU. */
export interface RememberedModels<M> {
  /** A model of the catalogue, which all owners share. */
  standard(key: string, make: () => M): M;
  /** An owner's own model. */
  custom(ownerId: string, key: string, make: () => M): M;
}

/** The catalogue lists fewer. */
const STANDARD_MAX = 200;
/** What the AI SDK builds for a model of chat completions, measured on Bun 1.4.5. */
const MODEL_BYTES = 340 * 1024;
/** Room for about 100 models, and for 12 of one owner. */
const CUSTOM = { totalBytes: 32 * 1024 * 1024, ownerBytes: 4 * 1024 * 1024 };

export function rememberModels<M extends object>(): RememberedModels<M> {
  const shared = new LRUCache<string, M>({ max: STANDARD_MAX });
  const owned = ownerCache<M>(CUSTOM);
  return {
    standard: (key, make) => {
      const known = shared.get(key);
      if (known) return known;
      const model = make();
      shared.set(key, model);
      return model;
    },
    custom: (ownerId, key, make) => {
      const known = owned.get(ownerId, key);
      if (known) return known;
      const model = make();
      owned.set(ownerId, key, model, MODEL_BYTES + 2 * key.length);
      return model;
    },
  };
}
