import type { Database } from "@parley/shared/db/database";
import { fullError } from "@parley/shared/domain/full";
import type { Logger } from "@parley/shared/log";
import { repeat } from "@parley/shared/process/repeat";
import { listOwnersOver } from "@parley/shared/stored-bytes/fold";

/** How often a process asks who is full. Asked for each turn, Postgres would take longer for every one. */
const EVERY_MS = 2_000;

/** Which owners may begin conversations and turns. What has begun is stored in any case. */
export interface Room {
  /** @throws ServiceError conflict, which `isFull`, if the owner's conversations have reached the limit */
  refuseFull(ownerId: string): void;
  stop(): Promise<void>;
}

/** @param bytesMax limit for all conversations of one owner, reached some seconds late */
export async function ownerRoom(db: Database, bytesMax: number, log: Logger): Promise<Room> {
  let full: ReadonlySet<string> = new Set();
  const look = async () => {
    const found = new Set(await listOwnersOver(db, bytesMax));
    for (const owner_id of found.difference(full))
      log.warn({ owner_id, bytes_max: bytesMax }, "an owner's conversations are full: no further ones begin");
    full = found;
  };
  await look();
  const looking = repeat(look, EVERY_MS, (err) =>
    log.warn({ err }, "could not ask which owners' conversations are full"),
  );
  const room = {
    bytesMax,
    what: "Your conversations",
    remedy: "keep them for fewer days (Settings), or have the operator raise PARLEY_CONVERSATIONS_OWNER_BYTES",
  };
  return {
    refuseFull: (ownerId) => {
      if (full.has(ownerId)) throw fullError(room);
    },
    stop: looking.stop,
  };
}
