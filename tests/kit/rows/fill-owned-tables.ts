import type { Schema } from "@parley/shared/db/provision";
import type postgres from "postgres";

/** Values of columns that a check restricts, or that a service acts on, by table. The others get one that fits their type. */
const VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  agents: { agent_type: "INBOUND" },
  agent_publishes: { kind: "publish" },
  cloned_voices: { gender: "NEUTRAL" },
  conversation_counts: { minutes: [0], running: [1] },
  conversations: { type: "CHAT", status: "COMPLETED" },
  daily_sessions: { status: "ENDED", outcome: "SUCCESS", ended_at: "now", is_room_gone: true },
  deliveries: { status: "failed", attempts_left: 0 },
  documents: { status: "FAILED" },
  destinations: { request_type: "POST" },
  messages: { role: "user" },
  outbound_calls: { status: "ENDED", outcome: "SUCCESS", ended_at: "now", batch_id: null },
  outgoing_messages: { state: "sent" },
  call_batches: { status: "ENDED", ended_at: "now" },
  batch_calls: { status: "ENDED" },
  prompts: { prompt_type: "main" },
  recordings: { state: "ready" },
  // What the owner's rows add up to is counted by triggers.
  stored_bytes: { bytes: 0 },
  stored_changes: { bytes: 0 },
  tool_calls: { kind: "builtin", state: "SUCCEEDED" },
  test_attempts: { status: "PASSED" },
  test_runs: { status: "PASSED" },
  tools: { type: "http" },
  trunk_registrations: { state: "REFUSED" },
};

/**
 * Tables that cannot have a row of a made-up owner: `jobs` are work, `calls` are held by a process, `number_restores` wait for a carrier,
 * and a job fills the search's tables from the conversations.
 */
const LEFT_OUT = ["jobs", "calls", "number_restores"];
const OF_SEARCH = /^search_/;

const BY_TYPE: Readonly<Record<string, string | boolean | object>> = {
  text: "canary",
  uuid: "00000000-0000-7000-8000-000000000001",
  jsonb: {},
  json: {},
  ARRAY: [],
  bytea: "",
  date: "today",
  boolean: false,
  "timestamp with time zone": "now",
};

interface Column {
  table: string;
  column: string;
  type: string;
  isNeeded: boolean;
}

/** Gives an owner a row in every table of a schema that has owners. */
export async function fillOwnedTables(sql: postgres.Sql, schema: Schema, ownerId: string): Promise<void> {
  const columns = await sql<Column[]>`
    select table_name as table, column_name as column, data_type as type,
      is_nullable = 'NO' and column_default is null and is_identity = 'NO' and is_generated = 'NEVER' as "isNeeded"
    from information_schema.columns join information_schema.tables using (table_schema, table_name)
    where table_schema = ${schema} and table_type = 'BASE TABLE'
    -- Those with triggers first: a row that a trigger adds elsewhere must not be there yet.
    order by (
      select count(*) from pg_trigger
      where tgrelid = (quote_ident(table_schema) || '.' || quote_ident(table_name))::regclass and not tgisinternal
    ) desc, table_name`;
  const tables = Map.groupBy(columns, ({ table }) => table);
  let waiting = [...tables.keys()].filter(
    (table) =>
      tables.get(table)?.some(({ column }) => column === "owner_id") &&
      !LEFT_OUT.includes(table) &&
      !OF_SEARCH.test(table),
  );
  while (waiting.length > 0) {
    const refused: unknown[] = [];
    const again: string[] = [];
    for (const table of waiting) {
      const row = rowOf(table, tables.get(table) ?? [], ownerId);
      const names = sql(Object.keys(row));
      await sql`
        insert into ${sql(table)} (${names})
        select ${names} from jsonb_populate_record(null::${sql(table)}, ${sql.json(row as never)})
        on conflict do nothing`.catch((error) => {
        // A row that another table's must come before.
        refused.push(error);
        again.push(table);
      });
    }
    if (again.length === waiting.length) throw refused[0];
    waiting = again;
  }
}

function rowOf(table: string, columns: readonly Column[], ownerId: string): Record<string, unknown> {
  const given: Readonly<Record<string, unknown>> = { ...VALUES[table], owner_id: ownerId };
  return Object.fromEntries(
    columns
      .filter(({ column, isNeeded }) => isNeeded || column in given)
      .map(({ column, type }) => [
        column,
        column in given ? given[column] : column === "expires_at" ? "tomorrow" : (BY_TYPE[type] ?? 1),
      ]),
  );
}

/** Waits until the conversation service has filled the search's tables from an owner's conversations. */
export async function indexConversations(sql: postgres.Sql, ownerId: string): Promise<void> {
  await sql`
    insert into search_waiting (owner_id, conversation_id)
    select owner_id, conversation_id from conversations where owner_id = ${ownerId} on conflict do nothing`;
  await sql`
    insert into jobs (owner_id, job_id, queue, payload, due_at)
    values (${ownerId}, 'index-conversations', 'index-conversations', '{}', now()) on conflict do nothing`;
  for (;;) {
    const [row] = await sql`select 1 from search_documents where owner_id = ${ownerId}`;
    if (row) return;
    await Bun.sleep(50);
  }
}
