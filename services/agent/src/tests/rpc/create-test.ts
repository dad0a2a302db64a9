import { CreateTestResponse } from "@parley/proto/parley/agent/v1/test.ts";
import type { Sql } from "@parley/shared/db/database";
import { TEST_LIMITS } from "@parley/shared/domain/tests";
import { ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { newId } from "@parley/shared/ids";
import { actorText } from "@parley/shared/rpc/actor";
import { checkName } from "@parley/shared/text/name";
import type { AgentContext, Handler } from "../../context.ts";
import { checkAgentId, getAgentRow, getLockedAgentRow } from "../../read-agents.ts";
import { withinAgentRoom } from "../../room.ts";
import { checkDocuments, checkReferences } from "../check-references.ts";
import { defineTest, type GivenTest } from "../define.ts";
import { testNameTaken, toAgentTest } from "../read-tests.ts";
import { requireManual } from "../required.ts";
import { countTests, insertTest, isTestNameTaken, type TestRow } from "../store/tests.ts";

export function createTest(ctx: AgentContext): Handler<"createTest"> {
  return async ({ ownerId, agentId, name, required, definition, idempotency }, call) => {
    checkAgentId(agentId);
    checkName("name", name);
    const now = ctx.clock.now();
    const row: TestRow = {
      ...{ ownerId, agentId, testId: newId("tst"), name, required },
      definition: defineTest((definition ?? {}) as GivenTest),
      createdBy: actorText(call.actor),
      createdAt: now,
      updatedAt: now,
    };
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: CreateTestResponse, call },
      {
        prepare: async () => checkDocuments(ctx, await getAgentRow(ctx.db, row), row.definition, call),
        write: (tx) => withinAgentRoom(tx, ctx, ownerId, () => storeNewTest(ctx, tx, row)),
      },
    );
  };
}

/** Stores a test that has been checked by itself. @throws ServiceError for what it refers to, a taken name or too many tests */
export async function storeNewTest(ctx: AgentContext, tx: Sql, row: TestRow): Promise<CreateTestResponse> {
  const agent = await getLockedAgentRow(tx, row);
  if (row.required) requireManual(agent);
  await checkReferences(ctx, tx, agent, row.definition);
  if (await isTestNameTaken(tx, row, row.name)) throw testNameTaken(row.name);
  if ((await countTests(tx, row)) >= TEST_LIMITS.ofAgent)
    throw new ServiceError("conflict", `The agent has ${TEST_LIMITS.ofAgent} tests, which is the most: delete some`);
  await insertTest(tx, row);
  return { test: toAgentTest(row) };
}
