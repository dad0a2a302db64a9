import type { Database } from "@parley/shared/db/database";
import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { deleteRowsOf, forgetQueue } from "@parley/shared/jobs/forget-owner";
import type { Queue } from "@parley/shared/jobs/worker";

const TABLES: readonly OwnedTable[] = [
  // First, because the outcome of an attempt in progress is stored only with its delivery.
  { name: "deliveries", key: ["delivery_id"] },
  { name: "attempts", key: ["delivery_id", "number"] },
  // Each has a payload, of up to 16 MiB.
  { name: "events", key: ["event_id"], rows: 50 },
];

/** Deletes what deleted owners have in the dispatcher beside their destinations, which are deleted at once. */
export function forgetOwners(db: Database): Record<string, Queue> {
  return forgetQueue((ownerId, lease) => deleteRowsOf(db, ownerId, lease, TABLES));
}
