import type { ToolNews, Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { presentKnowledge } from "@parley/shared/domain/present/conversation";
import { parseObject } from "@parley/shared/json/json-object";
import type { GateContext } from "../gate.ts";
import { textBody } from "../http/answer/text-body.ts";
import { presentEnd } from "../present/chat-reply.ts";
import { problemOf } from "../problem.ts";
import { type ReplyTo, streamed, TURN_TIMEOUT_MS, tellStarted } from "./replies.ts";
import type { Turns } from "./turns.ts";

/** Whether a request accepts server-sent events. */
export function acceptsEvents(accept: string | null): boolean {
  if (!accept?.toLowerCase().includes("text/event-stream")) return false;
  return accept.split(",").some((item) => {
    const [type, ...parameters] = item.split(";").map((part) => part.trim().toLowerCase());
    return type === "text/event-stream" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/**
 * The reply as server-sent events (docs/api-reference.md#chat). A refusal before the turn has begun is an ordinary error response;
 * later, the event `error` ends the stream.
 */
export function eventReply(gate: GateContext, turns: Turns, turn: Turn, to: ReplyTo): Promise<Response> {
  const { origin, write, headers, hidesSources = false } = to;
  const events = textBody();
  const tell = (event: string, data: object) => events.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  let sessionId = "";
  const run = turns.run(turn, {
    ...write,
    origin,
    timeoutMs: TURN_TIMEOUT_MS,
    streamed: true,
    onStarted: (started) => {
      sessionId = started.sessionId;
      tellStarted(headers, started);
      tell("started", { session_id: sessionId });
    },
    onText: (text) => tell("text", { text }),
    onTool: (tool) => void tell(...toolEvent(tool)),
  });
  return streamed(gate, to, "text/event-stream", run, events, {
    end: (end) => {
      const known = end.knowledge && !hidesSources ? presentKnowledge(end.knowledge) : {};
      tell("done", { session_id: sessionId, ...known, ...presentEnd(end) });
      events.end();
    },
    fail: (error) => {
      tell("error", { detail: problemOf(error, origin.requestId).body.detail });
      events.end();
    },
  });
}

function toolEvent({ toolCallId, event }: ToolNews): [name: string, data: object] {
  const named = { tool_call_id: toolCallId };
  if (event?.$case === "answered")
    return ["tool_result", { ...named, result: event.value.result, is_error: event.value.isError }];
  const { name = "", arguments: json = "{}" } = event?.value ?? {};
  return ["tool_call", { ...named, name, arguments: parseObject(json) ?? {} }];
}
