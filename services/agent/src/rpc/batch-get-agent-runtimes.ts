import { Access, type AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { toRuntime } from "../convert.ts";
import { readAgents } from "../read-agents.ts";

export function batchGetAgentRuntimes(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["batchGetAgentRuntimes"]> {
  return async ({ keys }, call) => ({
    results: (await readAgents(ctx, keys, call)).map((read) =>
      typeof read === "number"
        ? { access: read, runtime: undefined }
        : { access: Access.ACCESS_GRANTED, runtime: toRuntime(read.row, read.prompt, ctx.sealer) },
    ),
  });
}
