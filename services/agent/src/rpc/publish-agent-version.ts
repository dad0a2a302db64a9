import { PublishAgentVersionResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { AgentContext, Handler } from "../context.ts";
import { publish } from "../versions/publish.ts";

export function publishAgentVersion(ctx: AgentContext): Handler<"publishAgentVersion"> {
  return (request, call) => {
    const { agentVersion } = request;
    return publish(ctx, { ...request, codec: PublishAgentVersionResponse }, [agentVersion], call, (row, [version]) => ({
      state: {
        publishedVersion: agentVersion,
        publishedNumbers: version?.row.agentMobileNumbers ?? [],
        traffic: null,
      },
      entry: { kind: agentVersion < (row.publishedVersion ?? 0) ? "rollback" : "publish", agentVersion },
    }));
  };
}
