import { Access, type AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { toAgentPrompt, toRuntime } from "../convert.ts";
import { readAnalysisPrompts } from "../prompts/agent-prompts.ts";
import { type ReadAgent, readAgents } from "../read-agents.ts";
import { readToolsOf } from "../tools/read-tools.ts";

export function batchGetAgentRuntimes(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["batchGetAgentRuntimes"]> {
  return async ({ keys, withAnalysisPrompt }, call) => {
    const reads = await readAgents(ctx, keys, call);
    const rows = reads.flatMap((read) => (typeof read === "number" ? [] : read.row));
    const [analysisPrompts, toolsOf] = await Promise.all([
      withAnalysisPrompt ? readAnalysisPrompts(ctx, rows, call) : new Map(),
      readToolsOf(ctx, rows, call.log),
    ]);
    const runtimeOf = ({ row, prompt }: ReadAgent) => {
      const analysisPrompt = toAgentPrompt(analysisPrompts.get(row));
      const runtime = toRuntime(row, toAgentPrompt(prompt), analysisPrompt, toolsOf(row), ctx);
      const { ownerId: owner_id, agentId: agent_id } = row;
      if (runtime.unreadableKey !== undefined) {
        call.log.error({ owner_id, agent_id, field: runtime.unreadableKey }, "a model's key cannot be read");
      }
      return runtime;
    };
    return {
      results: reads.map((read) =>
        typeof read === "number"
          ? { access: read, runtime: undefined }
          : { access: Access.ACCESS_GRANTED, runtime: runtimeOf(read) },
      ),
    };
  };
}
