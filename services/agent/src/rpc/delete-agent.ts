import { type AgentServiceService, DeleteAgentResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { promiseReferences, settleReferencesNow } from "../prompt-references.ts";
import { readAgent } from "../read-agents.ts";
import { deleteAgentRow, lockAgent } from "../store/agents.ts";

export function deleteAgent(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["deleteAgent"]> {
  return async (request, call) => {
    const key = { ownerId: request.ownerId, agentId: request.agentId };
    await promiseReferences(ctx, key);
    const response = await runIdempotent(
      ctx,
      { ownerId: request.ownerId, idempotency: request.idempotency, codec: DeleteAgentResponse, call },
      async (tx) => {
        await lockAgent(tx, key.agentId);
        const { row } = await readAgent(ctx, key, call, tx);
        await deleteAgentRow(tx, key);
        return { agentName: row.agentName, deletedAt: ctx.clock.now() };
      },
    );
    await settleReferencesNow(ctx, key, call.log);
    return response;
  };
}
