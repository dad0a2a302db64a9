import type { AgentContext, Handler } from "../context.ts";
import { followPrompt as follow } from "../versions/follow.ts";

export function followPrompt(ctx: AgentContext): Handler<"followPrompt"> {
  return async ({ ownerId, promptName }, call) => {
    await follow(ctx, { ownerId, promptName }, call.actor, call);
    return {};
  };
}
