import { SCHEMAS, type Schema } from "@parley/shared/db/provision";
import postgres from "postgres";

/** What changes by itself: work to be done, and counts that are folded now and then. */
const RESTLESS = ["jobs", "conversation_changes", "conversation_counts"];

/** Every row of the owner's in every schema, but what changes by itself and when keys were used. */
export async function rowsOf(databaseUrls: Record<Schema, string>, ownerId: string): Promise<string[]> {
  const rows: string[] = [];
  for (const schema of SCHEMAS) {
    const sql = postgres(databaseUrls[schema], { max: 1, onnotice: () => {} });
    for (const table of await ownedTables(sql, schema)) {
      const found = await sql<{ row: string }[]>`
        select (to_jsonb(t) - 'last_used_at')::text as row from ${sql(table)} t where owner_id = ${ownerId} order by 1`;
      rows.push(...found.map(({ row }) => `${schema}.${table}: ${row}`));
    }
    await sql.end();
  }
  return rows;
}

async function ownedTables(sql: postgres.Sql, schema: Schema): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = ${schema} and column_name = 'owner_id' and table_name <> all(${RESTLESS}) order by 1`;
  return rows.map(({ name }) => name);
}
