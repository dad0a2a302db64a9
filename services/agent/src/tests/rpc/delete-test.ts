import { DeleteTestResponse } from "@parley/proto/parley/agent/v1/test.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentContext, Handler } from "../../context.ts";
import { getLockedAgentRow } from "../../read-agents.ts";
import { getTestRow } from "../read-tests.ts";
import { loosenGate } from "../required.ts";
import { deleteTestRow } from "../store/tests.ts";

/** The results of its runs stay. */
export function deleteTest(ctx: AgentContext): Handler<"deleteTest"> {
  return async (request, call) => {
    const { ownerId, idempotency, mayOverride } = request;
    return runIdempotent(ctx, { ownerId, idempotency, codec: DeleteTestResponse, call }, async (tx) => {
      await lockStoredBytes(tx, ownerId);
      const test = await getTestRow(tx, request);
      await getLockedAgentRow(tx, request);
      const now = ctx.clock.now();
      if (test.required) await loosenGate(tx, test, { kind: "test_deleted", mayOverride, actor: call.actor, now });
      await deleteTestRow(tx, request);
      return { name: test.name, deletedAt: now };
    });
  };
}
