import { UpdateToolResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import type { McpContents } from "@parley/shared/domain/mcp-definitions";
import { invalid, ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { later } from "../changed-agent.ts";
import type { AgentContext, Handler } from "../context.ts";
import { withinAgentRoom } from "../room.ts";
import { isNameTaken, type ToolRow, updateToolRow } from "../store/tools.ts";
import { checkTool } from "../tools/check-tool.ts";
import { asksAgain, withContents } from "../tools/mcp-contents.ts";
import { getToolRow } from "../tools/read-tools.ts";
import { changedTool, givenColumns, toTool } from "../tools/tool-rows.ts";
import { requireSecrets, secretNamesOf, secretsOf } from "../tools/tool-uses.ts";
import { followTool } from "../versions/follow.ts";
import { nameTaken } from "./create-tool.ts";

/** Conversations use the changed tool from their next round on. */
export function updateTool(ctx: AgentContext): Handler<"updateTool"> {
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
        prepare: async () => {
          const before = await getToolRow(ctx.db, key);
          const tool = changed(before);
          await requireSecrets(ctx, ownerId, secretsOf(tool.kind), call);
          return newContents(ctx, before, tool, call);
        },
        write: (tx, contents) =>
          withinAgentRoom(tx, ctx, ownerId, async () => {
            const before = await getToolRow(tx, key);
            const tool = changed(before);
            const given = givenColumns(tool);
            const row: ToolRow = {
              ...before,
              ...given,
              definition: { ...given.definition, kind: withNew(given.definition.kind, contents) },
              secretNames: secretNamesOf(tool.kind),
              updatedAt: later(ctx.clock.now(), before.updatedAt),
            };
            if (await isNameTaken(tx, key, row.name)) throw nameTaken(row.name);
            await updateToolRow(tx, row);
            await followTool(tx, ctx, key, { note: `Tool ${row.name} changed`, actor: call.actor });
            return { tool: toTool(row) };
          }),
      },
    );
  };
}

/** What the server of an MCP tool offers, if the change has it asked again; null otherwise. */
async function newContents(
  ctx: AgentContext,
  { ownerId, name, definition }: ToolRow,
  tool: Tool,
  origin: CallOrigin,
): Promise<McpContents | null> {
  const [before, after] = [definition.kind, tool.kind];
  if (before.$case !== "mcp" || after?.$case !== "mcp") return null;
  if (!asksAgain({ name, mcp: before.value }, { name: tool.name, mcp: after.value })) return null;
  const filled = await withContents(ctx, ownerId, { name: tool.name, kind: after }, origin);
  return filled.$case === "mcp" ? filled.value : null;
}

function withNew(kind: NonNullable<Tool["kind"]>, contents: McpContents | null): NonNullable<Tool["kind"]> {
  if (kind.$case !== "mcp" || !contents) return kind;
  const { definitions, problems } = contents;
  return { ...kind, value: { ...kind.value, definitions, problems } };
}
