import { CreateToolResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { sealedResponses } from "@parley/shared/idempotency/sealed-responses";
import { newId } from "@parley/shared/ids";
import { actorText } from "@parley/shared/rpc/actor";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import type { AgentContext, Handler } from "../context.ts";
import { withinAgentRoom } from "../room.ts";
import { insertTool, isNameTaken, type ToolRow } from "../store/tools.ts";
import { checkTool } from "../tools/check-tool.ts";
import { withContents } from "../tools/mcp-contents.ts";
import { toRuntimeTool } from "../tools/read-tools.ts";
import { sealSigningSecret } from "../tools/signing.ts";
import { givenColumns } from "../tools/tool-rows.ts";
import { requireSecrets, secretNamesOf, secretsOf } from "../tools/tool-uses.ts";

export function createTool(ctx: AgentContext): Handler<"createTool"> {
  return async ({ ownerId, tool, idempotency }, call) => {
    if (!tool?.kind) throw invalid("type", "type is required");
    const { kind } = tool;
    checkTool(tool, ctx.allowedHosts);
    const key = { ownerId, toolId: newId("tol") };
    const now = ctx.clock.now();
    const row: ToolRow = {
      ...key,
      ...givenColumns(tool),
      type: kind.$case,
      secretNames: secretNamesOf(kind),
      sealedSecret: kind.$case === "http" ? sealSigningSecret(ctx.sealer, key, newSigningSecret()) : null,
      oldSecrets: [],
      createdBy: actorText(call.actor),
      createdAt: now,
      updatedAt: now,
    };
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: sealedResponses(CreateToolResponse, ctx.sealer, ownerId), call },
      {
        prepare: async () => {
          await requireSecrets(ctx, ownerId, secretsOf(kind), call);
          return withContents(ctx, ownerId, { name: row.name, kind: row.definition.kind }, call);
        },
        write: (tx, filled) =>
          withinAgentRoom(tx, ctx, ownerId, async () => {
            if (await isNameTaken(tx, key, row.name)) throw nameTaken(row.name);
            const stored = { ...row, definition: { ...row.definition, kind: filled } };
            await insertTool(tx, stored);
            return { tool: toRuntimeTool(ctx, stored) };
          }),
      },
    );
  };
}

export function nameTaken(name: string): ServiceError {
  return new ServiceError("conflict", `There is a tool with the name ${name} already`);
}
