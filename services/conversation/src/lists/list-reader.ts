import type { Database } from "@parley/shared/db/database";
import { isUnreachableDatabase } from "@parley/shared/db/unreachable";

/** Runs a read on the database that lists are read from. */
export type ReadLists = <T>(read: (db: Database) => Promise<T>) => Promise<T>;

/**
 * Lists are read from the replica, if there is one, and may be as old as its lag (docs/scaling.md: Read replica); while
 * the replica cannot be reached, they are read from the primary.
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
