import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { ClientTool, HttpTool, Tool, ToolMethod, type ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import { silentLogger } from "@parley/shared/log";
import { serve } from "@parley/shared/rpc/server";
import { type AgentClient, present } from "./kit.ts";

/** An account service that knows secrets by owner, and the numbers that owners have lost. */
export async function startSecrets() {
  const secrets = new Map<string, readonly string[]>();
  const lostNumbers = new Set<string>();
  const server = await serve(
    AccountServiceService,
    {
      findSecrets: async ({ ownerId, names }) => ({
        names: names.filter((name) => secrets.get(ownerId)?.includes(name)),
      }),
      findLostNumbers: async ({ mobileNumbers }) => ({
        mobileNumbers: mobileNumbers.filter((number) => lostNumbers.has(number)),
      }),
    },
    { address: "127.0.0.1:0", log: silentLogger },
  );
  return { ...server, secrets, lostNumbers };
}

export function httpTool(name: string, given: Partial<HttpTool> = {}): Tool {
  const method = ToolMethod.TOOL_METHOD_GET;
  const value = { ...HttpTool.fromPartial({}), method, url: "https://shop.example/orders", ...given };
  return { ...Tool.fromPartial({ name, description: "Looks up an order." }), kind: { $case: "http", value } };
}

export function clientTool(name: string, given: Partial<ClientTool> = {}): Tool {
  const value = { ...ClientTool.fromPartial({}), ...given };
  return { ...Tool.fromPartial({ name, description: "Shows a product." }), kind: { $case: "client", value } };
}

export function parameter(
  name: string,
  source: ToolParameter["source"],
  given: Partial<ToolParameter> = {},
): ToolParameter {
  return { name, in: 0, required: false, source, allowedFrom: undefined, ...given };
}

export const byModel = (schema: object = { type: "string" }): ToolParameter["source"] => ({
  $case: "schema",
  value: schema as { [key: string]: unknown },
});

export async function createTool(agents: AgentClient, ownerId: string, tool: Tool): Promise<Tool> {
  return present((await agents.createTool({ ownerId, tool, idempotency: undefined })).tool);
}

export function toolChange(ownerId: string, { toolId }: Tool, tool: Tool, fields: string[]) {
  return { ownerId, toolId, tool, fields, idempotency: undefined, ifUpdatedAt: undefined };
}
