import { Access, type AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { toAgent } from "../convert.ts";
import { readAgents } from "../read-agents.ts";

export function batchGetAgents(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["batchGetAgents"]> {
  return async ({ keys }, call) => ({
    results: (await readAgents(ctx, keys, call)).map((read) =>
      typeof read === "number"
        ? { access: read, agent: undefined }
        : { access: Access.ACCESS_GRANTED, agent: toAgent(read.row, read.prompt) },
    ),
  });
}
