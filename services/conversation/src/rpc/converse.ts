import type {
  ConversationServiceService,
  ConverseRequest,
  ConverseResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import type { Handlers } from "@parley/shared/rpc/server";
import { toAction } from "../calls/call-action.ts";
import { runSpokenTurn, type SpokenTurnEvent } from "../calls/spoken-turn.ts";
import type { ConversationContext } from "../context.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["converse"]>;

/** One spoken turn of a call (docs/voice-runtimes.md#spoken-turns). */
export function converse(ctx: ConversationContext): Handler {
  return async function* (requests, call) {
    const incoming = requests[Symbol.asyncIterator]();
    const { done, value: first } = await incoming.next();
    if (done) throw invalid("turn", "The stream must carry a turn");
    for await (const event of eventsOf(ctx, first, incoming, call)) yield { event: toResponse(event) };
  };
}

/** Runs the turn while its events are read. They are not held back: a runtime reads faster than it speaks. */
async function* eventsOf(
  ctx: ConversationContext,
  first: ConverseRequest,
  further: AsyncIterator<ConverseRequest>,
  call: Call,
): AsyncGenerator<SpokenTurnEvent> {
  let waiting: SpokenTurnEvent[] = [];
  let news = Promise.withResolvers<void>();
  let isOver = false;
  const tell = (event: SpokenTurnEvent) => {
    waiting.push(event);
    news.resolve();
  };
  const run = runSpokenTurn(ctx, first, further, call, tell).finally(() => {
    isOver = true;
    news.resolve();
  });
  run.catch((err) => {
    if (call.signal.aborted) call.log.warn({ err }, "a spoken turn failed after its runtime disconnected");
  });
  while (!isOver || waiting.length > 0) {
    await news.promise;
    news = Promise.withResolvers();
    const events = waiting;
    waiting = [];
    yield* events;
  }
  await run;
}

function toResponse(event: SpokenTurnEvent): NonNullable<ConverseResponse["event"]> {
  switch (event.type) {
    case "text":
      return { $case: "text", value: event.text };
    case "action":
      return { $case: "action", value: { action: toAction(event.action) } };
    case "complete":
      return { $case: "complete", value: {} };
    case "stored":
      return { $case: "stored", value: { lastSequence: event.lastSequence } };
  }
}
