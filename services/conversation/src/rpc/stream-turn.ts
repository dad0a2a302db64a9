import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { ConversationServiceService, Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { runTurn, type Tell, type TurnEvent } from "../turn/turn.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["streamTurn"]>;

export function streamTurn(ctx: ConversationContext): Handler {
  return async function* (request, call) {
    for await (const event of eventsOf(ctx, turnOf(request), call)) {
      yield event.type === "started"
        ? { event: { $case: "started", value: { sessionId: event.sessionId, replayed: event.replayed } } }
        : { event: { $case: "text", value: event.text } };
    }
  };
}

/** Runs a turn to its end, whether its reader stays or leaves. The turn waits while an event waits for the reader. */
async function* eventsOf(ctx: ConversationContext, turn: Turn, call: Call): AsyncGenerator<TurnEvent> {
  let waiting: TurnEvent[] = [];
  let isRead = true;
  let news = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  const tell: Tell = (event) => {
    if (!isRead) return null;
    waiting.push(event);
    news.resolve();
    return taken.promise;
  };
  let isOver = false;
  const run = runTurn(ctx, turn, call, "streamed", tell).finally(() => {
    isOver = true;
    news.resolve();
  });
  run.catch((err) => {
    if (!isRead) call.log.warn({ err }, "a turn failed after its client disconnected");
  });
  try {
    while (!isOver || waiting.length > 0) {
      await news.promise;
      news = Promise.withResolvers();
      const events = waiting;
      waiting = [];
      yield* events;
      taken.resolve();
      taken = Promise.withResolvers();
    }
    await run;
  } finally {
    isRead = false;
    taken.resolve();
  }
}

const TYPES: readonly ConversationType[] = [
  ConversationType.CONVERSATION_TYPE_UNSPECIFIED,
  ConversationType.CONVERSATION_TYPE_CHAT,
  ConversationType.CONVERSATION_TYPE_WHATSAPP,
];

/**
 * Returns the requested turn, with its session id in the form that Postgres writes.
 * @throws ServiceError invalid when the turn is missing, its session id is not a UUID, or its type has no such turns
 */
export function turnOf({ turn }: { turn: Turn | undefined }): Turn {
  if (!turn) throw invalid("turn", "turn is required");
  if (turn.sessionId !== undefined && !isUuid(turn.sessionId)) {
    throw invalid("session_id", "session_id must be a UUID, as a chat reply or first-message gave it");
  }
  if (!TYPES.includes(turn.type)) throw invalid("type", "type must be CHAT or WHATSAPP: no other type has such turns");
  if (turn.mayBegin && turn.sessionId === undefined) throw invalid("session_id", "may_begin needs a session_id");
  return { ...turn, sessionId: turn.sessionId?.toLowerCase() };
}
