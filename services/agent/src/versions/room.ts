import type { Sql } from "@parley/shared/db/database";
import { findStoredBytes, withinRoom } from "@parley/shared/stored-bytes/room";
import type { AgentContext } from "../context.ts";
import { deleteOldVersions } from "../store/versions.ts";

/** A version that new conversations got later makes no room for others: a conversation may still have it. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

/**
 * `withinRoom` for a write that makes versions of agents. If the owner has no room for them, the oldest versions make room that new
 * conversations have not got for 30 days.
 */
export function withinVersionRoom<R>(
  tx: Sql,
  { room, clock }: Pick<AgentContext, "room" | "clock">,
  ownerId: string,
  write: () => Promise<R>,
): Promise<R> {
  return withinRoom(tx, ownerId, room, async () => {
    const result = await write();
    const before = new Date(clock.now().getTime() - KEPT_MS);
    while ((await findStoredBytes(tx, ownerId)) > room.bytesMax && (await deleteOldVersions(tx, ownerId, before)) > 0);
    return result;
  });
}
