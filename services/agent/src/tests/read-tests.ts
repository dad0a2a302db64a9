import type { AgentTest } from "@parley/proto/parley/agent/v1/test.ts";
import type { Sql } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { checkAgentId, getAgentRow } from "../read-agents.ts";
import { findRun, type RunKey, type RunRow } from "./store/runs.ts";
import { findTest, type TestKey, type TestRow } from "./store/tests.ts";

/** @throws ServiceError forbidden for another owner's agent, not_found for none or no such test */
export async function getTestRow(sql: Sql, key: TestKey): Promise<TestRow> {
  const row = isId("tst", key.testId) && isId("agt", key.agentId) ? await findTest(sql, key) : null;
  if (row) return row;
  checkAgentId(key.agentId);
  await getAgentRow(sql, key);
  throw notFound("Test");
}

/** @throws ServiceError as `getTestRow` does */
export async function getRun(sql: Sql, key: RunKey): Promise<RunRow> {
  const row = isId(key.isReplay ? "rpl" : "run", key.runId) ? await findRun(sql, key) : null;
  if (row) return row;
  checkAgentId(key.agentId);
  await getAgentRow(sql, key);
  throw notFound(key.isReplay ? "Replay" : "Run");
}

export function toAgentTest(row: TestRow): AgentTest {
  const { testId, name, required, definition, createdAt, updatedAt, createdBy } = row;
  return { testId, name, required, definition: { ...definition }, createdAt, updatedAt, createdBy };
}

export function testNameTaken(name: string): ServiceError {
  return new ServiceError("conflict", `The agent has a test with the name ${name} already`);
}
