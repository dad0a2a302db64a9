import { Access } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { AgentContext, Handler } from "../context.ts";
import { toRuntime } from "../convert.ts";
import { readVersions } from "../read-agents.ts";
import type { AgentVersion } from "../store/versions.ts";
import { readToolsOf } from "../tools/read-tools.ts";

export function batchGetAgentRuntimes(ctx: AgentContext): Handler<"batchGetAgentRuntimes"> {
  return async ({ keys }, call) => {
    const reads = await readVersions(ctx.db, keys);
    const versions = reads.flatMap((read) => (typeof read === "number" ? [] : read));
    const toolsOf = await readToolsOf(ctx, versions, call.log);
    const runtimeOf = (version: AgentVersion) => {
      const runtime = toRuntime({ ...version, customTools: toolsOf(version) }, ctx);
      const { ownerId: owner_id, agentId: agent_id } = version.row;
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
