import { afterAll, expect, test } from "bun:test";
import { connectPostgres } from "@parley/shared/db/connect";
import { createTestDatabase } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { type Columns, insertOwned } from "@parley/testkit/statement-cost/filled-tables";

interface Table {
  table: string;
  columns: Columns;
  selectedBy: readonly string[];
  payloads: readonly string[];
}

const TABLES: readonly Table[] = [
  {
    table: "conversations",
    columns: { type: "'CHAT'", status: "'IN_PROGRESS'", notes: "'None'", analysis: "'[]'" },
    selectedBy: ["owner_id", "status", "created_at"],
    payloads: ["metadata", "variables", "notes", "analysis"],
  },
  {
    table: "messages",
    columns: { seq: "1", role: "'user'", content: "'Hi'" },
    selectedBy: ["owner_id", "created_at"],
    payloads: ["content"],
  },
  {
    table: "tool_calls",
    columns: {
      ...{ tool_call_id: "'tcl_' || n", seq: "1", round: "1", place: "0", kind: "'http'", name: "'look_up'" },
      ...{ arguments: "'{}'", state: "'RUNNING'", note: "'None'" },
    },
    selectedBy: ["owner_id", "conversation_id"],
    payloads: ["name", "arguments", "result", "note"],
  },
];

const ownerId = newOwner();
const database = await createTestDatabase();
const admin = connectPostgres(database.adminUrl, { max: 1 });
await admin`set search_path to conversation`;
for (const { table, columns } of TABLES) await insertOwned(admin, table, columns, { ownerId, count: 100 });
afterAll(async () => {
  await admin.end();
  await database.drop();
});

test.each(TABLES)("ANALYZE of $table leaves out what no statement selects by", async (given) => {
  await admin.unsafe(`analyze ${given.table}`);
  const rows = await admin<{ column: string }[]>`
    select attname as column from pg_stats where schemaname = 'conversation' and tablename = ${given.table}`;
  const columns = rows.map(({ column }) => column);
  expect(columns).toEqual(expect.arrayContaining([...given.selectedBy]));
  for (const payload of given.payloads) expect(columns).not.toContain(payload);
});
