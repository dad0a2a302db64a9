import { type AgentServiceService, UpdateToolResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { willSettle } from "@parley/shared/changes/follow";
import { invalid, ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import type { Handlers } from "@parley/shared/rpc/server";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import { later } from "../changed-agent.ts";
import type { AgentContext } from "../context.ts";
import { isNameTaken, type ToolRow, tellAgentsWithTool, updateToolRow } from "../store/tools.ts";
import { checkTool } from "../tools/check-tool.ts";
import { getToolRow } from "../tools/read-tools.ts";
import { changedTool, givenColumns, toTool } from "../tools/tool-rows.ts";
import { requireSecrets, secretNamesOf } from "../tools/tool-uses.ts";
import { nameTaken } from "./create-tool.ts";

/** Conversations use the changed tool from their next round on. */
export function updateTool(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["updateTool"]> {
  return async (request, call) => {
    const { ownerId, toolId, tool: given, fields, idempotency, ifUpdatedAt } = request;
    if (!given) throw invalid("tool", "tool is required");
    const key = { ownerId, toolId };
    const changed = (before: ToolRow) => {
      if (ifUpdatedAt !== undefined && ifUpdatedAt.getTime() !== before.updatedAt.getTime())
        throw new ServiceError(
          "conflict",
          `The tool was changed at ${before.updatedAt.toISOString()}, after the one you read: read it again`,
        );
      const tool = changedTool(before, given, fields);
      checkTool(tool, ctx.allowedHosts);
      return tool;
    };
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: UpdateToolResponse, call },
      {
        prepare: async () => requireSecrets(ctx, ownerId, changed(await getToolRow(ctx.db, key)).kind, call),
        write: (tx) =>
          withinRoom(tx, ownerId, ctx.room, async () => {
            await willSettle(tx);
            const before = await getToolRow(tx, key);
            const tool = changed(before);
            const row: ToolRow = {
              ...before,
              ...givenColumns(tool),
              secretNames: secretNamesOf(tool.kind),
              updatedAt: later(ctx.clock.now(), before.updatedAt),
            };
            if (await isNameTaken(tx, key, row.name)) throw nameTaken(row.name);
            await updateToolRow(tx, row);
            await tellAgentsWithTool(tx, key);
            return { tool: toTool(row) };
          }),
      },
    );
  };
}
