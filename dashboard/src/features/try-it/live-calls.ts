import type { ToolCall } from "../conversations/said.ts";

/** A call that has just begun. @param reply what the agent has said before */
export function begunCall(call: { tool_call_id: string; name: string; arguments: object }, reply: string): ToolCall {
  return {
    ...call,
    arguments: JSON.stringify(call.arguments),
    result: "",
    status: "RUNNING",
    is_error: false,
    is_cut: false,
    http_status: null,
    note: null,
    attempts: 0,
    started_ms: null,
    duration_ms: null,
    // The API counts characters; some of them are two units of a string.
    offset: [...reply].length,
  };
}

/** Gives the call that a result belongs to its result. */
export function answeredBy({
  tool_call_id: id,
  result,
  is_error,
}: {
  tool_call_id: string;
  result: string;
  is_error: boolean;
}): (call: ToolCall) => ToolCall {
  return (call) =>
    call.tool_call_id === id ? { ...call, result, is_error, status: is_error ? "FAILED" : "SUCCEEDED" } : call;
}
