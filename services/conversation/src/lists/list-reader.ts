import type { Database } from "@parley/shared/db/database";
import { isUnreachableDatabase } from "@parley/shared/db/unreachable";

/** Does a read of a list where lists are read. */
export type ReadLists = <T>(read: (db: Database) => Promise<T>) => Promise<T>;

/**
 * Lists come from the replica, if there is one, as late as that is behind (docs/scaling.md: Read replica), and from the primary
 * while it cannot be reached.
 */
export function listReader(primary: Database, replica: Database | null): ReadLists {
  if (!replica) return (read) => read(primary);
  return async (read) => {
    try {
      return await read(replica);
    } catch (error) {
      if (isUnreachableDatabase(error)) return read(primary);
      throw error;
    }
  };
}
