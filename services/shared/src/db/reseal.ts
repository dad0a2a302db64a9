import { type Database, openDatabase, type Sql } from "./database.ts";

/**
 * Reseals what a service stores with the first of its encryption keys, each in its own transaction, so that you can remove the
 * others. Safe while the service runs.
 * @returns how many there are
 */
export async function resealEach<Key>(
  { DATABASE_URL: url }: { DATABASE_URL: string },
  service: string,
  list: (db: Database) => Promise<readonly Key[]>,
  reseal: (tx: Sql, key: Key) => Promise<void>,
): Promise<number> {
  const db = openDatabase({ url, max: 1, prepare: false, name: `parley-${service}-reseal` });
  try {
    const keys = await list(db);
    for (const key of keys) await db.begin((tx) => reseal(tx, key));
    return keys.length;
  } finally {
    await db.end({ timeout: 5 });
  }
}
