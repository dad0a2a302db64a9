import type { ClientCall, Turn, TurnStarted } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { parseObject } from "@parley/shared/json/json-object";
import type { Admitted, GateContext } from "../gate.ts";
import { textBody } from "../http/answer/text-body.ts";
import type { Turns } from "./turns.ts";

/** The request that is replied to. */
export type ReplyTo = Pick<Admitted<unknown, unknown>, "ownerId" | "origin" | "write" | "headers" | "request">;

/** Longer than any turn may take: the conversation service's limits end it first. */
export const TURN_TIMEOUT_MS = 660_000;

/** The reply as JSON. */
export async function wholeReply(
  _gate: GateContext,
  turns: Turns,
  turn: Turn,
  { write, origin, headers }: ReplyTo,
): Promise<object> {
  let response = "";
  let sessionId = "";
  let clientCalls: readonly ClientCall[] = [];
  let isOperators = false;
  await turns.run(turn, {
    ...write,
    origin,
    timeoutMs: TURN_TIMEOUT_MS,
    streamed: false,
    onStarted: (started) => {
      sessionId = started.sessionId;
      tellStarted(headers, started);
    },
    onText: (text) => {
      response += text;
      return null;
    },
    onClientCalls: (calls) => {
      clientCalls = calls;
    },
    onOperator: () => {
      isOperators = true;
    },
  });
  return { response, session_id: sessionId, ...presentClientCalls(clientCalls), ...presentAnsweredBy(isOperators) };
}

/** Who answers in the agent's place, as a member of the answer that is left out if nobody does. */
export function presentAnsweredBy(isOperators: boolean) {
  return isOperators && { answered_by: "operator" };
}

export function tellStarted(headers: Headers, { sessionId, replayed }: TurnStarted): void {
  headers.set("X-Session-ID", sessionId);
  if (replayed) headers.set("Idempotent-Replayed", "true");
}

/**
 * The reply as text, word by word. A failure before the first word is an ordinary error response; after it, the body
 * ends without its terminating chunk, so that a client cannot mistake a part for the whole.
 * @param ended called once the turn is over, however it ends
 */
export async function textReply(
  gate: GateContext,
  turns: Turns,
  turn: Turn,
  { ownerId, origin, write, headers, request }: ReplyTo,
  ended: () => void = () => {},
): Promise<Response> {
  const words = textBody();
  const run = turns.run(turn, {
    ...write,
    origin,
    timeoutMs: TURN_TIMEOUT_MS,
    streamed: true,
    onStarted: (started) => tellStarted(headers, started),
    onText: words.write,
  });
  run.finally(ended).catch(() => {});
  await Promise.race([run, words.begun]);
  headers.set("Content-Type", "text/plain; charset=utf-8");
  const letGo = gate.holdOpen(request);
  run
    .then(words.end, (err: unknown) => {
      words.breakOff();
      if (err instanceof ServiceError && err.kind === "cancelled") return;
      gate.log.warn({ request_id: origin.requestId, owner_id: ownerId, err }, "reply broken off");
    })
    .finally(letGo);
  return new Response(words.body, { headers });
}

/** The calls that the client makes, as a member of the answer that is left out without any. */
export function presentClientCalls(calls: readonly ClientCall[]) {
  return calls.length > 0 && { tool_calls: calls.map(presentClientCall) };
}

function presentClientCall({ toolCallId, name, arguments: json, wait, timeoutMs }: ClientCall) {
  const limit = timeoutMs !== undefined && { timeout_ms: timeoutMs };
  return { tool_call_id: toolCallId, name, arguments: parseObject(json) ?? {}, wait, ...limit };
}
