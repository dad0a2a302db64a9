import { SCHEMAS, type Schema } from "@parley/shared/db/provision";
import postgres from "postgres";

/** Tables that change by themselves: jobs, and counts that a job folds. */
const RESTLESS = ["jobs", "conversation_changes", "conversation_counts"];

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
      return { schema, sql, tables: await ownedTables(sql, schema) };
    }),
  );
  return {
    async of(ownerId) {
      const rows = await Promise.all(
        schemas.flatMap(({ schema, sql, tables }) =>
          tables.map(async (table) => {
            const found = await sql<{ row: string }[]>`
              select (to_jsonb(t) - 'last_used_at')::text as row from ${sql(table)} t
              where owner_id = ${ownerId} order by 1`;
            return found.map(({ row }) => `${schema}.${table}: ${row}`);
          }),
        ),
      );
      return rows.flat();
    },
    async close() {
      await Promise.all(schemas.map(({ sql }) => sql.end()));
    },
  };
}

async function ownedTables(sql: postgres.Sql, schema: Schema): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = ${schema} and column_name = 'owner_id' and table_name <> all(${RESTLESS}) order by 1`;
  return rows.map(({ name }) => name);
}
