import type { Sql } from "@parley/shared/db/database";
import { findStoredBytes, withinRoom } from "@parley/shared/stored-bytes/room";
import type { AgentContext } from "./context.ts";
import { deleteOldVersions } from "./store/versions.ts";
import { deleteOldestRun } from "./tests/store/runs.ts";

/** A version that new conversations got later makes no room for others: a conversation may still have it. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * `withinRoom` for every write of this service. If the owner has no room for it, results of tests make room, the oldest first, and then the
 * oldest versions of agents that new conversations have not got for 30 days.
 */
export function withinAgentRoom<R>(
  tx: Sql,
  { room, clock }: Pick<AgentContext, "room" | "clock">,
  ownerId: string,
  write: () => Promise<R>,
): Promise<R> {
  return withinRoom(tx, ownerId, room, async () => {
    const result = await write();
    const before = new Date(clock.now().getTime() - KEPT_MS);
    while (
      (await findStoredBytes(tx, ownerId)) > room.bytesMax &&
      ((await deleteOldestRun(tx, ownerId)) || (await deleteOldVersions(tx, ownerId, before)) > 0)
    );
    return result;
  });
}
