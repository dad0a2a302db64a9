import type { ToolCall } from "../conversations/said.ts";

/** A call while it is told; `begunAt` is in `performance.now()` time. */
export interface LiveCall extends ToolCall {
  begunAt?: number;
}

/** What the person who tries the agent gives for a call of a client tool. */
export type GivenResult = { result: string } | { error: string };

/** A call that has just begun. @param reply what the agent has said before */
export function begunCall(
  call: { tool_call_id: string; name: string; arguments: object },
  reply: string,
  now = performance.now(),
): LiveCall {
  return {
    tool_call_id: call.tool_call_id,
    name: call.name,
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
    begunAt: now,
  };
}

/** Gives the call that a result belongs to its result. */
export function answeredBy(
  { tool_call_id: id, result, is_error }: { tool_call_id: string; result: string; is_error: boolean },
  now = performance.now(),
): (call: LiveCall) => LiveCall {
  return (call) => {
    if (call.tool_call_id !== id) return call;
    const duration_ms = call.begunAt === undefined ? null : Math.round(now - call.begunAt);
    return { ...call, result, is_error, duration_ms, status: is_error ? "FAILED" : "SUCCEEDED" };
  };
}

/** The same for what a person has given. */
export function givenBy(id: string, given: GivenResult): ReturnType<typeof answeredBy> {
  const is_error = "error" in given;
  return answeredBy({ tool_call_id: id, result: is_error ? given.error : given.result, is_error });
}

/** The calls as they are stored, in their places in what was told live. */
export function storedCalls(stored: readonly ToolCall[], live: readonly LiveCall[]): readonly ToolCall[] {
  const offsets = new Map(live.map((call) => [call.tool_call_id, call.offset]));
  return stored.map((call) => ({ ...call, offset: offsets.get(call.tool_call_id) ?? call.offset }));
}
