import type { Turn, TurnEnd, TurnStarted } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Admitted, GateContext } from "../gate.ts";
import { type TextBody, textBody } from "../http/answer/text-body.ts";
import { presentEnd } from "../present/chat-reply.ts";
import type { Turns } from "./turns.ts";

/** The request that is replied to. */
export interface ReplyTo
  extends Pick<Admitted<unknown, unknown>, "ownerId" | "origin" | "write" | "headers" | "request"> {
  /** Whether its reader may not know what the model was given of knowledge bases. */
  hidesSources?: boolean;
  /** Called once the turn is over, however it ends. */
  ended?(): void;
}

/** Longer than any turn may take: the conversation service's limits end it first. */
export const TURN_TIMEOUT_MS = 660_000;

/** The reply as JSON. */
export async function wholeReply(
  gate: Pick<GateContext, "holdOpen">,
  turns: Turns,
  turn: Turn,
  { write, origin, headers, request }: ReplyTo,
): Promise<object> {
  let response = "";
  let sessionId = "";
  const letGo = gate.holdOpen(request);
  try {
    const end = await turns.run(turn, {
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
    });
    return { response, session_id: sessionId, ...presentEnd(end) };
  } finally {
    letGo();
  }
}

export function tellStarted(headers: Headers, { sessionId, replayed }: TurnStarted): void {
  headers.set("X-Session-ID", sessionId);
  if (replayed) headers.set("Idempotent-Replayed", "true");
}

/**
 * The reply as text, word by word. A failure before the first word is an ordinary error response; after it, the body
 * ends without its terminating chunk, so that a client cannot mistake a part for the whole.
 */
export function textReply(gate: GateContext, turns: Turns, turn: Turn, to: ReplyTo): Promise<Response> {
  const { write, origin, headers } = to;
  const words = textBody();
  const run = turns.run(turn, {
    ...write,
    origin,
    timeoutMs: TURN_TIMEOUT_MS,
    streamed: true,
    onStarted: (started) => tellStarted(headers, started),
    onText: words.write,
  });
  return streamed(gate, to, "text/plain", run, words, { end: words.end, fail: words.breakOff });
}

/**
 * Answers with a body that is written while its turn runs, for as long as that takes.
 * @param last writes what follows the last word, or the failure
 * @throws what the turn fails with before anything is written
 */
export async function streamed(
  gate: Pick<GateContext, "holdOpen" | "log">,
  { ownerId, origin, headers, request, ended }: ReplyTo,
  type: string,
  run: Promise<TurnEnd>,
  { body, begun }: TextBody,
  last: { end(end: TurnEnd): void; fail(error: unknown): void },
): Promise<Response> {
  const letGo = gate.holdOpen(request);
  const over = () => {
    letGo();
    ended?.();
  };
  run.then(over, over);
  await Promise.race([run, begun]);
  headers.set("Content-Type", `${type}; charset=utf-8`);
  run.then(last.end, (err: unknown) => {
    last.fail(err);
    if (err instanceof ServiceError && err.kind === "cancelled") return;
    gate.log.warn({ request_id: origin.requestId, owner_id: ownerId, err }, "reply broken off");
  });
  return new Response(body, { headers });
}
