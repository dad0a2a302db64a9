import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SCHEMAS, type Schema } from "@parley/shared/db/provision";
import postgres from "postgres";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";

let stack: RunningStack;
beforeAll(async () => {
  stack = await sharedStack();
});
afterAll(() => stack?.stop());

const pairs = SCHEMAS.flatMap((role) =>
  SCHEMAS.filter((schema) => schema !== role).map((schema) => ({ role, schema })),
);

describe("a service's database role, as the stack creates it,", () => {
  test.each(SCHEMAS)("%s reads and writes its own tables", async (role) => {
    await asRole(role, async (sql) => {
      const tables = await tablesOf(sql, role);
      expect(tables).toContain("migrations");
      for (const table of tables) await sql`select count(*) from ${sql(role)}.${sql(table)}`;
      const insert = sql.begin(async (tx) => {
        await tx`insert into migrations (name, sha256) values ('probe', '')`;
        throw new Error("take it back");
      });
      await expect(insert).rejects.toThrow("take it back");
    });
  });

  test.each(pairs)("$role can neither see nor use the schema of $schema", async ({ role, schema }) => {
    await asRole(role, async (sql) => {
      for (const table of await asRole(schema, (own) => tablesOf(own, schema))) {
        const read = sql`select * from ${sql(schema)}.${sql(table)} limit 1`;
        await expect(read.execute()).rejects.toThrow(`permission denied for schema ${schema}`);
      }
      const create = sql`create table ${sql(schema)}.intruder (id int)`;
      await expect(create.execute()).rejects.toThrow(`permission denied for schema ${schema}`);
      await expect(sql`set role ${sql(roleOf(schema))}`.execute()).rejects.toThrow("permission denied to set role");
    });
  });

  test.each(SCHEMAS)("%s can create nothing outside its schema and no other role", async (role) => {
    await asRole(role, async (sql) => {
      await expect(sql`create table public.intruder (id int)`.execute()).rejects.toThrow(
        "permission denied for schema public",
      );
      await expect(sql`create schema intruder`.execute()).rejects.toThrow("permission denied for database");
      await expect(sql`create role intruder`.execute()).rejects.toThrow("permission denied to create role");
    });
  });
});

function roleOf(schema: Schema): string {
  return decodeURIComponent(new URL(stack.databaseUrls[schema]).username);
}

async function tablesOf(sql: postgres.Sql, schema: Schema): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = ${schema} and c.relkind in ('r', 'p')`;
  return rows.map(({ name }) => name);
}

async function asRole<T>(role: Schema, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(stack.databaseUrls[role], { max: 1, onnotice: () => {} });
  try {
    return await work(sql);
  } finally {
    await sql.end();
  }
}
