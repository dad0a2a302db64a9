import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import { toAction } from "../calls/call-action.ts";
import { readCall } from "../calls/read-call.ts";
import type { ConversationContext } from "../context.ts";
import { keptToolCall } from "../store/turns/kept-tool-calls.ts";
import { storeDecided } from "../store/turns/spoken-turns.ts";
import { callTool } from "../tools/call-tool.ts";
import { toolboxOf } from "../tools/toolbox.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["runCallTool"]>;

const NAME_MAX = 100;
/** A runtime may have said more than has been stored. */
const SEQUENCES_AHEAD = 100;

/** Runs a tool for a runtime that asks the model itself. */
export function runCallTool(ctx: ConversationContext): Handler {
  return async ({ ownerId, conversationId, name, arguments: input = {}, sequence, offset = 0 }, { log, signal }) => {
    if (name === "" || name.length > NAME_MAX) throw invalid("name", `name must be 1 to ${NAME_MAX} characters`);
    if (offset < 0) throw invalid("offset", "offset must be a number of characters, 0 or more");
    const key = { ownerId, conversationId };
    const call = await readCall(ctx, key);
    const sequenceMax = call.messageCount + SEQUENCES_AHEAD;
    if (sequence !== undefined && (sequence < 1 || sequence > sequenceMax))
      throw invalid("sequence", `sequence must be that of the reply, at most ${sequenceMax} now`);
    const agent = await ctx.getAgent(ownerId, call.agentId, call.draftId);
    const { clock } = ctx;
    const json = JSON.stringify(input);
    const startedAt = performance.now();
    const toolbox = toolboxOf(agent, "call", ctx.toolSources);
    const place = { ...key, channel: "call" as const, variables: call.variables, signal, clock, log };
    const { result, isError, action } = await callTool({ name, json, input }, toolbox, place);
    const durationMs = performance.now() - startedAt;
    const kept = keptToolCall({ name, arguments: json, result, isError, startedMs: null, durationMs, offset });
    const decided = {
      language: action?.type === "set_language" ? action.language : null,
      scheduledCall: action?.type === "schedule_call" ? action.call : null,
    };
    const isStored = await storeDecided(ctx.db, key, decided, { seq: sequence ?? null, call: kept }, clock.now());
    if (!isStored) throw new ServiceError("condition", "Conversation has ended");
    return { result, isError, action: action && { action: toAction(action) } };
  };
}
