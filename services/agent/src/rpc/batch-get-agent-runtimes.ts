import { Access, type AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import { readAnalysisPrompts } from "../agent-prompts.ts";
import type { AgentContext } from "../context.ts";
import { toRuntime } from "../convert.ts";
import { readAgents } from "../read-agents.ts";

export function batchGetAgentRuntimes(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["batchGetAgentRuntimes"]> {
  return async ({ keys, withAnalysisPrompt }, call) => {
    const reads = await readAgents(ctx, keys, call);
    const rows = reads.flatMap((read) => (typeof read === "number" ? [] : read.row));
    const analysisPrompts = withAnalysisPrompt ? await readAnalysisPrompts(ctx, rows, call) : new Map();
    return {
      results: reads.map((read) =>
        typeof read === "number"
          ? { access: read, runtime: undefined }
          : {
              access: Access.ACCESS_GRANTED,
              runtime: toRuntime(read.row, read.prompt, analysisPrompts.get(read.row), ctx.sealer),
            },
      ),
    };
  };
}
