import type { Secret } from "@parley/proto/parley/account/v1/account.ts";
import { isoTime } from "./time.ts";

/** A secret as the API and the command line show it, without its value. */
export function presentSecret({ name, version, createdAt, updatedAt, createdBy }: Secret) {
  return {
    name,
    version,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
    created_by: createdBy || null,
  };
}
