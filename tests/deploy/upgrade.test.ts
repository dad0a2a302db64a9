import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { migrateSchemas } from "@parley/deploy/src/migrate/migrate-all.ts";
import { MIGRATIONS } from "@parley/deploy/src/migrate/migrations.ts";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { migrate, sha256Of } from "@parley/shared/db/migrate";
import { SCHEMAS, type Schema } from "@parley/shared/db/provision";
import { silentLogger } from "@parley/shared/log";
import { createTestDatabase, EMPTY_TEMPLATE, type TestDatabase } from "@parley/testkit/database";
import { countOwnedRows, newOwner } from "@parley/testkit/owners";
import postgres from "postgres";
import { schemaOf } from "../kit/deploy/schema.ts";
import { fillOwnedTables } from "../kit/rows/fill-owned-tables.ts";

// deploy/releases has the migrations of each release, with the digests of their texts.

const ROOT = join(import.meta.dir, "../..");
const { upgradesFrom }: { upgradesFrom: string[] } = await Bun.file(join(ROOT, "package.json")).json();

/** The digests of a release's migrations by name; a schema that the release did not have is missing. */
type Release = Partial<Record<Schema, Record<string, string>>>;

const releases: { version: string; release: Release }[] = await Promise.all(
  upgradesFrom.map(async (version) => ({
    version,
    release: await Bun.file(join(ROOT, "deploy/releases", `${version}.json`)).json(),
  })),
);

let fresh: TestDatabase;
beforeAll(async () => {
  fresh = await createTestDatabase();
});
afterAll(() => fresh.drop());

describe.each(releases)("from release $version", ({ release }) => {
  test("no migration of a release has changed, and new ones come after it", () => {
    for (const [schema, released] of Object.entries(release) as [Schema, Record<string, string>][]) {
      const names = MIGRATIONS[schema].map(({ name }) => name);
      expect(names.slice(0, Object.keys(released).length)).toEqual(Object.keys(released));
      expect(names).toEqual(names.toSorted());
      for (const { name, sql } of MIGRATIONS[schema].slice(0, Object.keys(released).length))
        expect({ schema, name, sha256: sha256Of(sql) }).toEqual({ schema, name, sha256: released[name] ?? "" });
    }
  });

  test("an upgrade of a database of a release with rows in every table keeps them, and gives the schema of a new one", async () => {
    const upgraded = await createTestDatabase(EMPTY_TEMPLATE);
    const ownerId = newOwner();
    try {
      for (const schema of SCHEMAS) {
        const names = release[schema];
        if (!names) continue;
        await within(upgraded, schema, (db) =>
          migrate(
            db,
            MIGRATIONS[schema].filter(({ name }) => name in names),
          ),
        );
        const sql = postgres(upgraded.urls[schema], { max: 1, onnotice: () => {} });
        await fillOwnedTables(sql, schema, ownerId).finally(() => sql.end());
      }
      const before = await rowsOf(upgraded, ownerId);
      for (const schema of Object.keys(release)) expect(before[schema]).not.toBeEmptyObject();
      await migrateSchemas(upgraded.urls, silentLogger);
      expect(await rowsOf(upgraded, ownerId)).toMatchObject(before);
      for (const schema of SCHEMAS)
        expect(await within(upgraded, schema, schemaOf)).toEqual(await within(fresh, schema, schemaOf));
    } finally {
      await upgraded.drop();
    }
  });
});

/** How many rows an owner has in each table. */
async function rowsOf(database: TestDatabase, ownerId: string): Promise<Record<string, Record<string, number>>> {
  const rows: Record<string, Record<string, number>> = {};
  for (const schema of SCHEMAS) rows[schema] = await within(database, schema, (db) => countOwnedRows(db, ownerId));
  return rows;
}

async function within<T>(database: TestDatabase, schema: Schema, work: (db: Database) => Promise<T>): Promise<T> {
  const db = openDatabase({ url: database.urls[schema], max: 1, name: "upgrade-test" });
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}
