import { afterAll, beforeAll, expect, test } from "bun:test";
import { SCHEMAS, type Schema } from "@parley/shared/db/provision";
import { eventually } from "@parley/testkit/eventually";
import { tellWorkers } from "@parley/testkit/jobs";
import { countOwnedRows } from "@parley/testkit/owners";
import postgres from "postgres";
import { fillOwnedTables, indexConversations } from "../kit/rows/fill-owned-tables.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import type { RunningStack } from "../kit/stack/use-stack.ts";
import { createOwner } from "../kit/test-owner.ts";

const stack: RunningStack = await sharedStack();
const schemas = Object.fromEntries(
  SCHEMAS.map((schema) => [schema, postgres(stack.databaseUrls[schema], { max: 1, onnotice: () => {} })]),
) as Record<Schema, postgres.Sql>;
const owners = { gone: "", stays: "" };

afterAll(async () => {
  for (const sql of Object.values(schemas)) await sql.end();
  await stack.stop();
});

/** What docs/operations.md#delete-an-owner says is kept for ever. */
const KEPT: Partial<Record<Schema, readonly string[]>> = {
  account: ["owners", "settings"],
  conversation: [
    ...["figures", "figure_changes", "figure_latencies", "version_figures"],
    ...["conversation_changes", "conversation_counts", "owner_settings", "search_owners", "search_parts"],
  ],
  messaging: ["deleted_owners"],
};
/** What it says is kept until conversations go, or for 30 days. */
const KEPT_FOR_LONG: Partial<Record<Schema, readonly string[]>> = {
  conversation: [
    ...["conversations", "messages", "tool_calls", "owner_events", "search_documents", "search_waiting"],
    ...[
      "recent_figures",
      "turn_keys",
      "idempotency_keys",
      "search_gone",
      "search_open",
      "stored_bytes",
      "stored_changes",
    ],
  ],
  voice: ["outbound_calls", "daily_sessions"],
};

/** What comes and goes by itself. */
const RESTLESS = Object.fromEntries(
  SCHEMAS.map((schema) => [
    schema,
    [
      "jobs",
      "conversation_changes",
      "figure_changes",
      "owner_events",
      "stored_changes",
      "live_topics",
      "live_events",
      "call_commands",
    ],
  ]),
);

/** The tables of each schema that have rows of the owner, except those given. */
async function left(ownerId: string, ...except: readonly (typeof KEPT)[]): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {};
  for (const schema of SCHEMAS) {
    const tables = Object.keys(await countOwnedRows(schemas[schema], ownerId));
    const others = tables.filter((table) => !except.some((known) => known[schema]?.includes(table)));
    if (others.length > 0) found[schema] = others;
  }
  return found;
}

/** Makes the owner's jobs and all sweeps due. */
async function hurry(ownerId: string): Promise<void> {
  for (const sql of Object.values(schemas)) {
    await sql`
      update jobs set due_at = now()
      where owner_id in ('', ${ownerId}) and due_at > now() and due_at < 'infinity' and leased_until is null`;
    await tellWorkers(sql);
  }
}

/** Moves every time that is stored with the owner's rows three months into the past. */
async function letTimePass(ownerId: string): Promise<void> {
  for (const [schema, sql] of Object.entries(schemas)) {
    const columns = await sql<{ table: string; column: string }[]>`
      select table_name as table, column_name as column from information_schema.columns
      join information_schema.tables using (table_schema, table_name)
      where table_schema = ${schema} and data_type = 'timestamp with time zone' and table_type = 'BASE TABLE'
        and is_generated = 'NEVER' and table_name <> 'jobs'
        and table_name in (
          select table_name from information_schema.columns where table_schema = ${schema} and column_name = 'owner_id'
        )`;
    for (const { table, column } of columns)
      await sql`
        update ${sql(table)} set ${sql(column)} = ${sql(column)} - interval '91 days'
        where owner_id = ${ownerId} and ${sql(column)} < 'infinity'`;
  }
}

beforeAll(async () => {
  for (const each of ["gone", "stays"] as const) {
    const { ownerId } = await createOwner(stack.accounts);
    owners[each] = ownerId;
    for (const schema of SCHEMAS) await fillOwnedTables(schemas[schema], schema, ownerId);
    await indexConversations(schemas.conversation, ownerId);
  }
});

test("what a deleted owner had leaves every table: at once, or with its conversations after three months", async () => {
  const { gone, stays } = owners;
  const before = await left(stays, RESTLESS);
  expect(await left(gone, RESTLESS)).toEqual(before);
  await stack.accounts.deleteOwner({ ownerId: gone });
  await eventually(async () => {
    await hurry(gone);
    expect(await left(gone, KEPT, KEPT_FOR_LONG)).toEqual({});
  }, 60_000);
  const { conversation } = await left(gone);
  expect(conversation).toContainValues(["conversations", "messages", "search_documents"]);
  await letTimePass(gone);
  await eventually(async () => {
    await hurry(gone);
    expect(await left(gone, KEPT)).toEqual({});
  }, 60_000);
  expect(await left(stays, RESTLESS)).toEqual(before);
});
