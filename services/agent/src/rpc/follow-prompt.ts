import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { followPrompt as follow } from "../versions/follow.ts";

export function followPrompt(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["followPrompt"]> {
  return async ({ ownerId, promptName }, call) => {
    await follow(ctx, { ownerId, promptName }, call.actor, call);
    return {};
  };
}
