import { withAfterCommit } from "@parley/shared/db/after-commit";
import { connectPostgres } from "@parley/shared/db/connect";
import type { Database } from "@parley/shared/db/database";
import { roleSettings, type Schema } from "@parley/shared/db/provision";
import postgres from "postgres";
import type { TestDatabase } from "../database.ts";
import { newOwner } from "../owners.ts";
import { type Columns, insertOthers, insertOwned } from "./filled-tables.ts";

export interface Filled {
  schema: Schema;
  tables: Readonly<Record<string, Columns>>;
  /** How many rows each table gets. */
  rows: number;
}

/** When Postgres planned statements, and collected statistics: while their tables were empty, or with a few rows of others. */
export const PLANNED = ["for empty tables", "for rows of others"] as const;
export type Planned = (typeof PLANNED)[number];

/**
 * Runs work on tables that have been filled since Postgres planned its statements or collected statistics, as happens to a new owner
 * and to tables that a job empties. Tells how many rows the plans handled, which is what statements cost, whatever the machine does:
 * also those that a join compares and drops, which `countingReads` does not count.
 * @param work runs twice if it is planned for empty tables
 */
export async function countingHandled<T>(
  database: TestDatabase,
  { schema, tables, rows }: Filled,
  planned: Planned,
  work: (db: Database, ownerId: string) => Promise<T>,
): Promise<{ result: T; handled: number }> {
  const ownerId = newOwner();
  let handled = 0;
  const db = withAfterCommit(
    connectPostgres(database.adminUrl, {
      max: 1,
      // A superuser's, as only one may load the module.
      connection: roleSettings(schema),
      types: { bigint: { to: 20, from: [20], serialize: String, parse: Number } },
      transform: { column: { from: postgres.toCamel, to: postgres.fromCamel } },
      onnotice: ({ message = "" }) => {
        const [, plan] = message.match(/^duration: .*? plan:\n(\{.*)/s) ?? [];
        if (plan !== undefined) handled += handledBy(JSON.parse(plan).Plan);
      },
    }) as unknown as Database,
  );
  try {
    await db`load 'auto_explain'`;
    for (const table of Object.keys(tables)) {
      await db`truncate ${db(table)} cascade`;
      if (planned === "for rows of others") await insertOthers(db, table, tables[table] ?? {}, ownerId);
      await db`vacuum (analyze) ${db(table)}`;
    }
    if (planned === "for empty tables") {
      // Where the role lets Postgres keep plans, it keeps this one.
      if (roleSettings(schema).plan_cache_mode === "auto") await db`set plan_cache_mode = force_generic_plan`;
      await work(db, ownerId);
    }
    for (const [table, columns] of Object.entries(tables)) {
      await insertOwned(db, table, columns, { ownerId, count: rows });
    }
    await db`
      select set_config('auto_explain.' || name, value, false) from (values ('log_analyze', 'on'), ('log_timing', 'off'),
        ('log_format', 'json'), ('log_level', 'notice'), ('log_parameter_max_length', '0'), ('log_min_duration', '0')
      ) as settings (name, value)`;
    handled = 0;
    const result = await work(db, ownerId);
    return { result, handled };
  } finally {
    await db.end();
  }
}

interface Plan {
  "Actual Loops": number;
  "Actual Rows": number;
  "Rows Removed by Filter"?: number;
  "Rows Removed by Join Filter"?: number;
  Plans?: Plan[];
}

function handledBy(plan: Plan): number {
  const { "Rows Removed by Filter": filtered = 0, "Rows Removed by Join Filter": unjoined = 0, Plans = [] } = plan;
  const own = plan["Actual Loops"] * (plan["Actual Rows"] + filtered + unjoined);
  return Plans.reduce((sum, part) => sum + handledBy(part), own);
}
