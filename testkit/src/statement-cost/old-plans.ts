import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "@parley/shared/db/database";
import type { Schema } from "@parley/shared/db/provision";
import { createTestDatabase, type TestDatabase } from "../database.ts";
import type { Columns } from "./filled-tables.ts";
import { countingHandled, PLANNED, type Planned } from "./handled.ts";

/** How many rows a new owner has in each table unless a statement wants others; all are from before `NOW`. */
export const ROWS = 1_000;
export const NOW = new Date("2026-01-01");

export interface Statement {
  name: string;
  /** Those that get rows. */
  tables: Readonly<Record<string, Columns>>;
  /** `ROWS` unless given. */
  rows?: number;
  run: (db: Database, ownerId: string) => Promise<unknown>;
  /** What `run` returns. */
  expected: unknown;
  /** Rows, each counted as often as a part of a plan handles it; ten times `rows` unless given. */
  handledMax?: number;
  /** All unless given. */
  planned?: readonly Planned[];
}

/**
 * Tests that statements do not look through their tables for each row, although Postgres planned them, or collected its statistics,
 * before a new owner's rows were there.
 * @param prepare changes the database before the first one
 */
export function testOldPlans(
  schema: Schema,
  statements: readonly Statement[],
  prepare?: (database: TestDatabase) => Promise<void>,
): void {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
    await prepare?.(database);
  });
  afterAll(() => database.drop());

  const cases = statements.flatMap(({ rows = ROWS, handledMax = 10 * rows, planned = PLANNED, ...statement }) =>
    planned.map((when) => ({ ...statement, rows, handledMax, planned: when })),
  );
  test.each(cases)(
    "$name handles fewer than $handledMax rows with $rows in a table, although it was planned $planned",
    async ({ tables, rows, run, expected, handledMax, planned }) => {
      const { result, handled } = await countingHandled(database, { schema, tables, rows }, planned, run);
      expect(result).toEqual(expected);
      expect(handled).toBeLessThan(handledMax);
    },
  );
}
