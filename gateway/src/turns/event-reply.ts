import type { ReplyKnowledge } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { ClientCall, ToolNews, Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { presentKnowledge } from "@parley/shared/domain/present/conversation";
import { ServiceError } from "@parley/shared/errors";
import { parseObject } from "@parley/shared/json/json-object";
import type { GateContext } from "../gate.ts";
import { textBody } from "../http/answer/text-body.ts";
import { problemOf } from "../problem.ts";
import { presentAnsweredBy, presentClientCalls, type ReplyTo, TURN_TIMEOUT_MS, tellStarted } from "./replies.ts";
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
 * @param showsSources whether whoever reads may know what the model was given
 * @param ended called once the turn is over, however it ends
 */
export async function eventReply(
  gate: GateContext,
  turns: Turns,
  turn: Turn,
  { ownerId, origin, write, headers, request }: ReplyTo,
  { showsSources = true, ended = () => {} }: { showsSources?: boolean; ended?: () => void } = {},
): Promise<Response> {
  const events = textBody();
  const tell = (event: string, data: object) => events.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  let sessionId = "";
  let clientCalls: readonly ClientCall[] = [];
  let isOperators = false;
  let knowledge: ReplyKnowledge | undefined;
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
    onClientCalls: (calls) => {
      clientCalls = calls;
    },
    onOperator: () => {
      isOperators = true;
    },
    onKnowledge: (known) => {
      if (showsSources) knowledge = known;
    },
  });
  run.finally(ended).catch(() => {});
  await Promise.race([events.begun, run]);
  headers.set("Content-Type", "text/event-stream; charset=utf-8");
  const letGo = gate.holdOpen(request);
  run
    .then(
      () => {
        const known = knowledge && presentKnowledge(knowledge);
        const calls = { ...presentClientCalls(clientCalls), ...presentAnsweredBy(isOperators) };
        tell("done", { session_id: sessionId, ...known, ...calls });
      },
      (err: unknown) => {
        tell("error", { detail: problemOf(err, origin.requestId).body.detail });
        if (err instanceof ServiceError && err.kind === "cancelled") return;
        gate.log.warn({ request_id: origin.requestId, owner_id: ownerId, err }, "reply broken off");
      },
    )
    .finally(() => {
      events.end();
      letGo();
    });
  return new Response(events.body, { headers });
}

function toolEvent({ toolCallId, event }: ToolNews): [name: string, data: object] {
  const named = { tool_call_id: toolCallId };
  if (event?.$case === "answered")
    return ["tool_result", { ...named, result: event.value.result, is_error: event.value.isError }];
  const { name = "", arguments: json = "{}" } = event?.value ?? {};
  return ["tool_call", { ...named, name, arguments: parseObject(json) ?? {} }];
}
