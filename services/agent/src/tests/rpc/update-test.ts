import { type UpdateTestRequest, UpdateTestResponse } from "@parley/proto/parley/agent/v1/test.ts";
import { ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { checkName } from "@parley/shared/text/name";
import { later } from "../../changed-agent.ts";
import type { AgentContext, Handler } from "../../context.ts";
import { getAgentRow, getLockedAgentRow } from "../../read-agents.ts";
import { withinAgentRoom } from "../../room.ts";
import { checkDocuments, checkReferences } from "../check-references.ts";
import { defineTest, type GivenTest } from "../define.ts";
import { getTestRow, testNameTaken, toAgentTest } from "../read-tests.ts";
import { logChange, loosenGate, requireManual } from "../required.ts";
import { isTestNameTaken, type TestRow, updateTestRow } from "../store/tests.ts";

/** Runs that have begun go on with the test as it was. */
export function updateTest(ctx: AgentContext): Handler<"updateTest"> {
  return async (request, call) => {
    const { ownerId, idempotency, mayOverride } = request;
    if (request.name !== undefined) checkName("name", request.name);
    // What a test refers to may be gone: then it can still be renamed, and cleared from the gate.
    const isRedefined = Object.keys(request.definition ?? {}).length > 0;
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: UpdateTestResponse, call },
      {
        prepare: async () => {
          const { definition } = changed(await getTestRow(ctx.db, request), request);
          if (isRedefined) await checkDocuments(ctx, await getAgentRow(ctx.db, request), definition, call);
        },
        write: (tx) =>
          withinAgentRoom(tx, ctx, ownerId, async () => {
            const agent = await getLockedAgentRow(tx, request);
            const before = await getTestRow(tx, request);
            const now = later(ctx.clock.now(), before.updatedAt);
            const row = { ...changed(before, request), updatedAt: now };
            if (row.required && !before.required) requireManual(agent);
            const logged = { actor: call.actor, now };
            if (before.required && !row.required)
              await loosenGate(tx, before, { kind: "test_cleared", mayOverride, ...logged });
            else if (before.required) await logChange(tx, before, row, logged);
            if (isRedefined) await checkReferences(ctx, tx, agent, row.definition);
            if (await isTestNameTaken(tx, row, row.name)) throw testNameTaken(row.name);
            await updateTestRow(tx, row);
            return { test: toAgentTest(row) };
          }),
      },
    );
  };
}

/** @throws ServiceError invalid for a change that makes no test, conflict if the test is no longer the one that it is based on */
function changed(before: TestRow, { name, required, definition, ifUpdatedAt }: UpdateTestRequest): TestRow {
  if (ifUpdatedAt !== undefined && ifUpdatedAt.getTime() !== before.updatedAt.getTime()) {
    const detail = `The test was changed at ${before.updatedAt.toISOString()}, after the one you read: read it again`;
    throw new ServiceError("conflict", detail);
  }
  const given = { ...before.definition, ...definition } as GivenTest;
  if (given.kind !== before.definition.kind) Object.assign(given, OF_A_KIND, definition);
  // It followed the number of attempts.
  if (before.definition.pass_at_least === before.definition.repeat) given.pass_at_least = definition?.pass_at_least;
  return {
    ...before,
    name: name ?? before.name,
    required: required ?? before.required,
    definition: defineTest(given),
  };
}

/** A test of the other kind does not have them. */
const OF_A_KIND: GivenTest = {
  messages: null,
  persona: null,
  goal: null,
  first_message: null,
  turns_max: null,
  model: null,
};
