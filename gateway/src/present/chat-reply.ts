import type { ClientCall, TurnEnd } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { parseObject } from "@parley/shared/json/json-object";

/** What the end of a turn adds to its reply: the calls that the client makes, and who answers in the agent's place. */
export function presentEnd({ toolCalls, isOperators = false }: TurnEnd) {
  return {
    ...(toolCalls.length > 0 && { tool_calls: toolCalls.map(presentClientCall) }),
    ...(isOperators && { answered_by: "operator" }),
  };
}

function presentClientCall({ toolCallId, name, arguments: json, wait, timeoutMs }: ClientCall) {
  const limit = timeoutMs !== undefined && { timeout_ms: timeoutMs };
  return { tool_call_id: toolCallId, name, arguments: parseObject(json) ?? {}, wait, ...limit };
}
