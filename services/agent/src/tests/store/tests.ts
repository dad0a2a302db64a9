import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import type { TestDefinition } from "@parley/shared/domain/tests";
import { JSON_AS_WRITTEN } from "../../store/agents.ts";

export interface TestKey extends AgentKey {
  testId: string;
}

export interface TestRow extends TestKey {
  name: string;
  required: boolean;
  definition: TestDefinition;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

const columns = (sql: Sql) => sql`
  owner_id, agent_id, test_id, name, required, definition, created_by, created_at, updated_at`;

const values = (sql: Sql, row: TestRow) => ({
  owner_id: row.ownerId,
  agent_id: row.agentId,
  test_id: row.testId,
  name: row.name,
  required: row.required,
  definition: sql.typed(row.definition as never, JSON_AS_WRITTEN),
  created_by: row.createdBy,
  created_at: row.createdAt,
  updated_at: row.updatedAt,
});

export async function insertTest(sql: Sql, row: TestRow): Promise<void> {
  await sql`insert into agent_tests ${sql(values(sql, row))}`;
}

export async function updateTestRow(sql: Sql, row: TestRow): Promise<void> {
  await sql`
    update agent_tests set ${sql(values(sql, row))}
    where owner_id = ${row.ownerId} and agent_id = ${row.agentId} and test_id = ${row.testId}`;
}

export async function deleteTestRow(sql: Sql, { ownerId, agentId, testId }: TestKey): Promise<void> {
  await sql`delete from agent_tests where owner_id = ${ownerId} and agent_id = ${agentId} and test_id = ${testId}`;
}

export async function findTest(sql: Sql, { ownerId, agentId, testId }: TestKey): Promise<TestRow | null> {
  const [row] = await sql<TestRow[]>`
    select ${columns(sql)} from agent_tests
    where owner_id = ${ownerId} and agent_id = ${agentId} and test_id = ${testId}`;
  return row ?? null;
}

/** All tests of an agent, by name. */
export async function listTestRows(sql: Sql, { ownerId, agentId }: AgentKey): Promise<TestRow[]> {
  const rows = await sql<TestRow[]>`
    select ${columns(sql)} from agent_tests where owner_id = ${ownerId} and agent_id = ${agentId}`;
  return rows.toSorted(byName);
}

/** Those that must pass before a version is published, by name. */
export async function listRequiredTests(sql: Sql, { ownerId, agentId }: AgentKey): Promise<TestRow[]> {
  const rows = await sql<TestRow[]>`
    select ${columns(sql)} from agent_tests
    where owner_id = ${ownerId} and agent_id = ${agentId} and required`;
  return rows.toSorted(byName);
}

const NAMES = new Intl.Collator("en", { numeric: true });

/** As people count: T2 comes before T10. No list is paged, so that Postgres needs no collation for it. */
function byName(one: TestRow, two: TestRow): number {
  return NAMES.compare(one.name, two.name);
}

export async function countTests(sql: Sql, { ownerId, agentId }: AgentKey): Promise<number> {
  const [row] = await sql<{ tests: number }[]>`
    select count(*)::integer as tests from agent_tests where owner_id = ${ownerId} and agent_id = ${agentId}`;
  return row?.tests ?? 0;
}

export async function listTestNames(sql: Sql, { ownerId, agentId }: AgentKey): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select name from agent_tests where owner_id = ${ownerId} and agent_id = ${agentId}`;
  return rows.map(({ name }) => name);
}

export async function isTestNameTaken(sql: Sql, { ownerId, agentId, testId }: TestKey, name: string): Promise<boolean> {
  const rows = await sql`
    select from agent_tests
    where owner_id = ${ownerId} and agent_id = ${agentId} and name = ${name} and test_id <> ${testId} limit 1`;
  return rows.length > 0;
}

/** Deletes the tests of an agent and all that came of them. */
export async function deleteTestsOf(tx: Sql, { ownerId, agentId }: AgentKey): Promise<void> {
  await tx`delete from test_runs where owner_id = ${ownerId} and agent_id = ${agentId}`;
  await tx`delete from agent_tests where owner_id = ${ownerId} and agent_id = ${agentId}`;
  await tx`delete from test_passes where owner_id = ${ownerId} and agent_id = ${agentId}`;
}
