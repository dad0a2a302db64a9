import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";

export function watchAgents({
  changes,
}: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["watchAgents"]> {
  return (requests) => changes.watch(requests);
}
