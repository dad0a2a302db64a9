import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { readMigrateConfig } from "@parley/deploy/src/migrate/config.ts";
import { migrateAll } from "@parley/deploy/src/migrate/migrate-all.ts";
import { SCHEMAS } from "@parley/shared/db/provision";
import { silentLogger } from "@parley/shared/log";
import { createTestDatabase } from "@parley/testkit/database";
import postgres from "postgres";

// What docs/scaling.md says about the tables.

/** Each schema keeps these for itself, and no other node needs them. */
const LOCAL = ["migrations"];

const database = await createTestDatabase();
const urls = Object.entries(database.urls).map(([schema, url]) => [`${schema.toUpperCase()}_DATABASE_URL`, url]);
await migrateAll(readMigrateConfig(Object.fromEntries(urls)), silentLogger);
const admin = postgres(database.adminUrl, { max: 1, onnotice: () => {} });
afterAll(async () => {
  await admin.end();
  await database.drop();
});

async function statements(of: string): Promise<string[]> {
  const page = await Bun.file(join(import.meta.dir, "../../docs/scaling.md")).text();
  const block = page.match(new RegExp(`^\`\`\`sql ${of}\\n(.*?)^\`\`\`$`, "ms"))?.[1] ?? "";
  return block.split(/;\n/).filter((statement) => statement.trim() !== "");
}

test("every table has an owner column in every unique index and foreign key, and first in its primary key", async () => {
  const tables = await admin<{ name: string; hasOwner: boolean }[]>`
    select format('%s.%s', schemaname, tablename) as name, exists (
      select from information_schema.columns
      where table_schema = schemaname and table_name = tablename and column_name = 'owner_id'
    ) as "hasOwner"
    from pg_tables where schemaname = any(${[...SCHEMAS]}) and tablename <> all(${LOCAL})`;
  expect(tables.length).toBeGreaterThan(20);
  expect(tables.filter(({ hasOwner }) => !hasOwner)).toEqual([]);

  const indexes = await admin<{ name: string; primary: boolean; columns: string[] }[]>`
    select indexrelid::regclass::text as name, indisprimary as primary, array(
      select attname::text from unnest(indkey[0:indnkeyatts - 1]) with ordinality as key (number, place)
      join pg_attribute on attrelid = indrelid and attnum = number order by place
    ) as columns
    from pg_index join pg_class on pg_class.oid = indrelid join pg_namespace on pg_namespace.oid = relnamespace
    where indisunique and nspname = any(${[...SCHEMAS]}) and relname <> all(${LOCAL})`;
  expect(indexes.length).toBeGreaterThanOrEqual(tables.length);
  expect(indexes.filter(({ columns }) => !columns.includes("owner_id"))).toEqual([]);
  expect(indexes.filter(({ primary, columns }) => primary && columns[0] !== "owner_id")).toEqual([]);

  const foreignKeys = await admin<{ name: string; own: string[]; theirs: string[] }[]>`
    select conname as name,
      array(select attname::text from unnest(conkey) with ordinality as key (number, place)
        join pg_attribute on attrelid = conrelid and attnum = number order by place) as own,
      array(select attname::text from unnest(confkey) with ordinality as key (number, place)
        join pg_attribute on attrelid = confrelid and attnum = number order by place) as theirs
    from pg_constraint join pg_namespace on pg_namespace.oid = connamespace
    where contype = 'f' and nspname = any(${[...SCHEMAS]})`;
  for (const { name, own, theirs } of foreignKeys) {
    expect({ name, own: own.indexOf("owner_id") }).toEqual({ name, own: theirs.indexOf("owner_id") });
    expect(own).toContain("owner_id");
  }
});

test("the partitioning statements turn the messages table, with its rows and triggers, into monthly partitions", async () => {
  const db = postgres(database.urls.conversation, { max: 1, onnotice: () => {} });
  /** A conversation with a reply, which is counted. */
  const insert = async (sql: postgres.Sql, conversationId: string) => {
    await sql`
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
      values ('own_1', ${conversationId}, ${`cnv_${conversationId}`}, 'agt_1', 'CHAT', 'IN_PROGRESS', now(), now(), now())`;
    await sql`
      insert into messages (owner_id, conversation_id, seq, role, content, created_at, provider)
      values ('own_1', ${conversationId}, 1, 'assistant', 'Hi', now(), 'CUSTOM_LLM')`;
  };
  /** The definitions of the triggers on a table, constraints' own left out. */
  const triggersOf = async (table: string) => {
    const triggers = await db<{ definition: string }[]>`
      select replace(pg_get_triggerdef(oid), ${`.${table} `}, ' ') as definition from pg_trigger
      where tgrelid = ${table}::regclass and not tgisinternal order by tgname`;
    return triggers.map(({ definition }) => definition);
  };
  const triggersBefore = await triggersOf("messages");
  await insert(db, "01a22ee6-b000-7000-8000-000000000000");
  await db.begin(async (tx) => {
    for (const statement of await statements("partitions")) await tx.unsafe(statement);
  });
  await insert(db, "01a2ce8b-d400-7000-8000-000000000001");
  await insert(db, "01a22ee6-b000-7000-8000-000000000001");
  const rows = await db`
    select tableoid::regclass::text as place from messages where owner_id = 'own_1' order by conversation_id`;
  const [before, january] = ["messages_before_2027", "messages_2027_01"];
  expect(rows.map(({ place }) => place)).toEqual([before, before, january]);
  expect(triggersBefore.length).toBeGreaterThan(0);
  expect(await triggersOf("messages")).toEqual(triggersBefore);
  expect(await triggersOf("messages_before_2027")).toEqual(triggersBefore);
  const [key] = await db`
    select pg_get_constraintdef(oid) as key from pg_constraint where conrelid = 'messages'::regclass and contype = 'p'`;
  expect(key?.key).toBe("PRIMARY KEY (owner_id, conversation_id, seq)");
  const [used] = await db`select sum(replies)::int as replies from usage_days where owner_id = 'own_1'`;
  expect(used?.replies).toBe(3);
  await db.end();
});
