import type { ClientCall, ClientResult } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { CallNews } from "../call/port.ts";

// The messages of a call's data channel, as docs/calls.md#the-data-channel describes them.

/** What happens in the call. */
export function newsMessage(news: CallNews): string {
  switch (news.type) {
    case "state":
      return JSON.stringify(news);
    case "user":
    case "agent": {
      const { type, text, isFinal } = news;
      return JSON.stringify({ type, text, is_final: isFinal });
    }
    case "tool_call":
      return written(news.type, news);
    case "tool_result": {
      const { type, toolCallId, result, isError } = news;
      return JSON.stringify({ type, tool_call_id: toolCallId, result, is_error: isError });
    }
  }
}

/** A call for the page to make. */
export function clientCallMessage(call: ClientCall): string {
  const { wait, timeoutMs } = call;
  return written("client_call", call, { wait, ...(timeoutMs !== undefined && { timeout_ms: timeoutMs }) });
}

/** What the page sent is not used, or its call is over. */
export function errorMessage(toolCallId: string | null, detail: string): string {
  return JSON.stringify({ type: "error", ...(toolCallId !== null && { tool_call_id: toolCallId }), detail });
}

function written(type: string, call: Omit<ClientCall, "wait">, more: object = {}): string {
  return JSON.stringify({
    type,
    tool_call_id: call.toolCallId,
    name: call.name,
    arguments: JSON.parse(call.arguments),
    ...more,
  });
}

/** What a page sends: the result of a call, or what is wrong with it. */
type PageMessage = { result: ClientResult } | { toolCallId: string | null; fault: string };

export function pageMessage(text: string): PageMessage {
  const message = parsed(text);
  if (message?.["type"] !== "tool_result")
    return { toolCallId: null, fault: 'A message must be a JSON object with "type": "tool_result"' };
  const { tool_call_id: toolCallId, result, error } = message;
  if (typeof toolCallId !== "string") return { toolCallId: null, fault: "tool_call_id must be a text" };
  if (error !== undefined && typeof error !== "string") return { toolCallId, fault: "error must be a text" };
  if ((error === undefined) === (result === undefined))
    return { toolCallId, fault: "A result must have either result or error" };
  const said = error ?? (typeof result === "string" ? result : JSON.stringify(result));
  return { result: { toolCallId, result: said, isError: error !== undefined } };
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
