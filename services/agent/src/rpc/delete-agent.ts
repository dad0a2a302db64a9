import { DeleteAgentResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentContext, Handler } from "../context.ts";
import { promiseReferences, settleReferencesNow } from "../prompts/prompt-references.ts";
import { checkAgentId, getLockedAgentRow } from "../read-agents.ts";
import { deleteKeys } from "../store/agent-keys.ts";
import { deleteAgentRow } from "../store/agents.ts";
import { deletePublishes } from "../store/publishes.ts";
import { deleteVersions } from "../store/versions.ts";
import { deleteTestsOf } from "../tests/store/tests.ts";
import { requireNoHandoffs } from "../tools/agent-references.ts";

export function deleteAgent(ctx: AgentContext): Handler<"deleteAgent"> {
  return async (request, call) => {
    checkAgentId(request.agentId);
    const key = { ownerId: request.ownerId, agentId: request.agentId };
    const promise = await promiseReferences(ctx, key);
    const response = await runIdempotent(
      ctx,
      { ownerId: request.ownerId, idempotency: request.idempotency, codec: DeleteAgentResponse, call },
      async (tx) => {
        await lockStoredBytes(tx, request.ownerId);
        const { agentName } = await getLockedAgentRow(tx, key);
        await requireNoHandoffs(tx, key);
        await deleteTestsOf(tx, key);
        await deleteAgentRow(tx, key);
        await deleteVersions(tx, key);
        await deletePublishes(tx, key);
        await deleteKeys(tx, key);
        return { agentName, deletedAt: ctx.clock.now() };
      },
    );
    await settleReferencesNow(ctx, promise, call);
    return response;
  };
}
