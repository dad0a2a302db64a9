import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import { toAction } from "../calls/call-action.ts";
import { CALL_TOOLS } from "../calls/call-tools.ts";
import { readCall } from "../calls/read-call.ts";
import type { ConversationContext } from "../context.ts";
import { storeDecided } from "../store/spoken-turns.ts";
import { runTool } from "../turn/tools.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["runCallTool"]>;

const NAME_MAX = 100;

/** Runs a tool for a runtime that asks the model itself. */
export function runCallTool(ctx: ConversationContext): Handler {
  return async ({ ownerId, conversationId, name, arguments: input }) => {
    if (name === "" || name.length > NAME_MAX) throw invalid("name", `name must be 1 to ${NAME_MAX} characters`);
    const key = { ownerId, conversationId };
    const call = await readCall(ctx, key);
    const agent = await ctx.getAgent(ownerId, call.agentId, call.draftId);
    const now = ctx.clock.now();
    const { result, isError, action } = runTool({ name, input: input ?? {} }, CALL_TOOLS, agent.tools, now);
    const decided = {
      language: action?.type === "set_language" ? action.language : null,
      scheduledCall: action?.type === "schedule_call" ? action.call : null,
    };
    if (!(await storeDecided(ctx.db, key, decided, now))) throw new ServiceError("condition", "Conversation has ended");
    return { result, isError, action: action && { action: toAction(action) } };
  };
}
