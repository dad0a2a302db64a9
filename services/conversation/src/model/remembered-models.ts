import { ownerCache } from "@parley/shared/shares/owner-cache";
import { LRUCache } from "lru-cache";
import type { RefusedFeatures } from "./requests/request-sender.ts";

/** Keeps models that are costly to make: their packages build the response schemas anew for each, a sixth of a turn's CPU. */
export interface RememberedModels<M> {
  /** A model of the catalogue, which all owners share. */
  standard(key: string, make: () => M): M;
  /** An owner's own model. */
  custom(ownerId: string, key: string, make: () => M): M;
  /** What the server at an owner's own address has refused. */
  refused(ownerId: string, address: string): RefusedFeatures;
}

/** The catalogue lists fewer. */
const STANDARD_MAX = 200;
/** What the AI SDK builds for a model of chat completions, measured on Bun 1.4.5. */
const MODEL_BYTES = 340 * 1024;
/** Room for about 100 models, and for 12 of one owner. */
const CUSTOM = { totalBytes: 32 * 1024 * 1024, ownerBytes: 4 * 1024 * 1024 };

/** Room for some thousand servers, and for about a hundred of one owner. */
const SERVERS = { totalBytes: 1024 * 1024, ownerBytes: 64 * 1024 };
const SERVER_BYTES = 512;

export function rememberModels<M extends object>(): RememberedModels<M> {
  const shared = new LRUCache<string, M>({ max: STANDARD_MAX });
  const owned = ownerCache<M>(CUSTOM);
  const servers = ownerCache<RefusedFeatures>(SERVERS);
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
    refused: (ownerId, address) => {
      const known = servers.get(ownerId, address);
      if (known) return known;
      const nothing = { streamOptions: false, systemRole: false };
      servers.set(ownerId, address, nothing, SERVER_BYTES + 2 * address.length);
      return nothing;
    },
  };
}
