import type { Secret } from "@parley/proto/parley/account/v1/account.ts";
import { isoTime } from "./time.ts";

/** A secret as the API and the command line show it, without its value. */
export function presentSecret({ name, version, createdAt, updatedAt, createdBy }: Secret) {
  return {
    name,
    version,
    created_at: isoTime(createdAt) ?? null,
    updated_at: isoTime(updatedAt) ?? null,
    created_by: createdBy || null,
  };
}
