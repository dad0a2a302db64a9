import { SCHEMAS, type Schema } from "@parley/shared/db/provision";
import postgres from "postgres";

/**
 * Tables that change by themselves: jobs, attempts to deliver webhooks, sums of other rows, into which a job folds their
 * changes, the index of search, and what watchers were told.
 */
const RESTLESS = [
  ...["jobs", "attempts"],
  ...["conversation_changes", "conversation_counts"],
  ...["figure_changes", "figures", "figure_latencies", "version_figures", "recent_figures", "usage_days"],
  ...["stored_changes", "stored_bytes"],
  ...["search_owners", "search_open", "search_parts", "search_terms"],
  ...["live_topics", "live_events", "call_commands"],
];
/** Between these, a job moves the conversations that search can find. */
const SEARCHED = ["search_waiting", "search_documents"];
/** An attempt changes these of its delivery, but not the sum of attempts made and left. */
const ATTEMPTED = "array['status', 'attempts', 'attempts_left', 'next_attempt_at']";

/** A check changes these of its alert. */
const CHECKED = "array['value', 'count', 'checked_at', 'is_open', 'opened_at', 'resolved_at']";

/** The rows of each owner in the database. */
export interface OwnerRows {
  /** Every row of the owner in every schema, except what changes by itself and when keys were used. */
  of(ownerId: string): Promise<string[]>;
  close(): Promise<void>;
}

/** Keeps a connection to each schema, because opening one costs more than all the queries. */
export async function openOwnerRows(databaseUrls: Record<Schema, string>): Promise<OwnerRows> {
  const schemas = await Promise.all(
    SCHEMAS.map(async (schema) => {
      const sql = postgres(databaseUrls[schema], { max: 1, onnotice: () => {} });
      return { sql, statement: allRows(schema, await ownedTables(sql, schema)) };
    }),
  );
  return {
    async of(ownerId) {
      const found = await Promise.all(
        schemas.map(({ sql, statement }) => sql.unsafe<{ row: string }[]>(statement, [ownerId], { prepare: true })),
      );
      return found.flat().map(({ row }) => row);
    },
    async close() {
      await Promise.all(schemas.map(({ sql }) => sql.end()));
    },
  };
}

/** One statement for all tables: with one for each, most of the time went into sending them. */
function allRows(schema: Schema, tables: readonly string[]): string {
  const each = tables.map((table) => {
    return `select ${shown(schema, table)} as row from "${table}" t where owner_id = $1`;
  });
  return `${each.join(" union all ")} order by row`;
}

function shown(schema: Schema, table: string): string {
  if (SEARCHED.includes(table)) return `'${schema}.searched: ' || conversation_id`;
  if (table === "alerts") return `'${schema}.alerts: ' || (to_jsonb(t) - ${CHECKED})::text`;
  if (table !== "deliveries") return `'${schema}.${table}: ' || (to_jsonb(t) - 'last_used_at')::text`;
  return `'${schema}.deliveries: ' || (to_jsonb(t) - ${ATTEMPTED})::text || ' of attempts: ' || attempts + attempts_left`;
}

async function ownedTables(sql: postgres.Sql, schema: Schema): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = ${schema} and column_name = 'owner_id' and table_name <> all(${RESTLESS}) order by 1`;
  return rows.map(({ name }) => name);
}
