import { DeleteToolResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentContext, Handler } from "../context.ts";
import { raiseKeysRevisions } from "../store/agents.ts";
import { deleteToolRow } from "../store/tools.ts";
import { requireUnusedTool } from "../tools/agent-references.ts";
import { getToolRow } from "../tools/read-tools.ts";

export function deleteTool(ctx: AgentContext): Handler<"deleteTool"> {
  return async ({ ownerId, toolId, idempotency }, call) =>
    runIdempotent(ctx, { ownerId, idempotency, codec: DeleteToolResponse, call }, async (tx) => {
      await lockStoredBytes(tx, ownerId);
      const { name } = await getToolRow(tx, { ownerId, toolId });
      await requireUnusedTool(tx, { ownerId, toolId }, name);
      await deleteToolRow(tx, { ownerId, toolId });
      // Conversations with an earlier version that has it read that again, without the tool.
      await raiseKeysRevisions(tx, ownerId);
      return { name, deletedAt: ctx.clock.now() };
    });
}
