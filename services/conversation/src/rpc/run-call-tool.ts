import { isUniqueViolation } from "@parley/shared/db/unique-violation";
import { invalid, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { NEVER_GONE } from "@parley/shared/shares/few-at-once";
import { toAction } from "../calls/call-action.ts";
import { callHandoffs } from "../calls/call-handoffs.ts";
import { readCall } from "../calls/read-call.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { runtimeSearch } from "../knowledge/agent-knowledge.ts";
import { systemValues } from "../start/system-values.ts";
import { agentPathOf, keptOf } from "../store/agent-path.ts";
import { keepFound } from "../store/calls.ts";
import type { ToolCallRow } from "../store/turns/kept-tool-calls.ts";
import { storeDecided } from "../store/turns/spoken-turns.ts";
import { findTest } from "../store/turns/tests.ts";
import type { Client, ClientCall } from "../tools/client-calls.ts";
import { testTools } from "../tools/test-tools.ts";
import type { CallAction, ToolContext, ToolOutcome } from "../tools/tool.ts";
import { type Toolbox, toolboxOf } from "../tools/toolbox.ts";
import { turnTools } from "../tools/turn-tools.ts";
import { filledText } from "../turn/ask/filled-texts.ts";

const NAME_MAX = 100;
/** A runtime may have said more than has been stored. */
const SEQUENCES_AHEAD = 100;

/** Runs a tool for a runtime that asks the model itself. */
export function runCallTool(ctx: ConversationContext): Handler<"runCallTool"> {
  return async (request, { log }) => {
    const { ownerId, conversationId, name, arguments: input = {}, sequence, offset = 0, toolCallId } = request;
    if (name === "" || name.length > NAME_MAX) throw invalid("name", `name must be 1 to ${NAME_MAX} characters`);
    if (offset < 0) throw invalid("offset", "offset must be a number of characters, 0 or more");
    if (toolCallId !== undefined && !isId("tcl", toolCallId))
      throw invalid("tool_call_id", "tool_call_id must be tcl_ and 26 letters and digits");
    const key = { ownerId, conversationId };
    const call = await readCall(ctx, key);
    const agentId = agentPathOf(call).at(-1)?.agentId ?? call.agentId;
    const sequenceMax = call.messageCount + SEQUENCES_AHEAD;
    if (sequence !== undefined && (sequence < 1 || sequence > sequenceMax))
      throw invalid("sequence", `sequence must be that of the reply, at most ${sequenceMax} now`);
    const agent = await ctx.agents.get(ownerId, agentId, keptOf(call, agentId));
    const variables = { ...call.variables, ...(await systemValues(ctx, key, agent)) };
    const { ledger, clock } = ctx;
    const seq = sequence ?? null;
    const test = call.testRunId === null ? null : await findTest(ctx.db, key);
    const toolbox = toolboxOf(agent, "call", [
      () => runtimeSearch(ctx.knowledge, agent),
      callHandoffs(ctx, call, seq ?? call.messageCount + 1, request.nextAgentVersion),
      ...ctx.toolSources,
    ]);
    const kept: ToolCallRow[] = [];
    let outcome: ToolOutcome | undefined;
    let clientCall: ClientCall | undefined;
    const client: Client = {
      take: ([call]) => {
        clientCall = call;
      },
      isAwaited: false,
    };
    const tools = turnTools({
      ...{
        ledger,
        toolbox: waiting(test ? testTools(test)(toolbox) : toolbox),
        kept,
        // A call is made to its end, whether its runtime waits or not.
        signal: NEVER_GONE,
        log,
      },
      toolCallId,
      client: request.clientTools ? client : undefined,
      turn: { ...key, turnId: null, replySeq: seq },
      place: () => ({
        ...key,
        channel: "call" as const,
        isTelephone: call.type === "TELEPHONY",
        variables,
        clock,
        log,
      }),
      startedAt: null,
      apply: (made) => {
        outcome = made;
      },
      closed: async () => ended(),
    });
    const calls = [{ name, json: JSON.stringify(input), input }];
    const made = async () => tools.answer(calls, { round: 1, place: offset });
    const [answered] = await made().catch(refuseRepeated);
    const action = outcome?.action;
    const decided = {
      language: action?.type === "set_language" ? action.language : null,
      scheduledCall: action?.type === "schedule_call" ? action.call : null,
    };
    const [over] = kept;
    const store = (over: ToolCallRow) => storeDecided(ctx.db, key, decided, { seq, call: over }, clock.now());
    if (over && !(await store(over).catch(refuseRepeated))) throw ended();
    if (outcome?.knowledge) await keepFound(ctx.db, key, outcome.knowledge);
    const { result = "", isError = true } = answered ?? {};
    return {
      result: clientCall?.wait ? "" : result,
      ...{ isError, clientCall },
      action: action && { action: toAction(withBriefing(action, variables)) },
    };
  };
}

/** Such a runtime briefs the person of a warm transfer with its own model, which knows no variables. */
function withBriefing(action: CallAction, variables: ToolContext["variables"]): CallAction {
  if (action.type !== "transfer_call" || !action.warm) return action;
  const briefing = filledText("briefing", action.warm.briefing, variables);
  return { ...action, warm: { ...action.warm, briefing } };
}

/** The model of such a runtime talks on by itself until it has the result. */
function waiting({ definitions, find }: Toolbox): Toolbox {
  return {
    definitions,
    find: (name, call) => {
      const tool = find(name, call);
      return tool?.rules ? { ...tool, rules: { ...tool.rules, run: "wait" } } : tool;
    },
  };
}

function ended(): ServiceError {
  return new ServiceError("condition", "Conversation has ended");
}

/** @throws ServiceError conflict if Postgres refused an id that names a call already, or else the error */
function refuseRepeated(error: unknown): never {
  throw isUniqueViolation(error)
    ? new ServiceError("conflict", "tool_call_id names a call that was run before")
    : error;
}
