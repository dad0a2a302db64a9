import type {
  ConversationServiceService,
  ConverseResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import type { Handlers } from "@parley/shared/rpc/server";
import { toAction, toRules } from "../calls/call-action.ts";
import { runSpokenTurn, type SpokenTurnEvent } from "../calls/spoken-turn.ts";
import type { ConversationContext } from "../context.ts";
import { toNews } from "../tools/telling.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["converse"]>;

/** One spoken turn of a call (docs/voice-runtimes.md#spoken-turns). */
export function converse(ctx: ConversationContext): Handler {
  return async function* (requests, call) {
    const incoming = requests[Symbol.asyncIterator]();
    const { done, value: first } = await incoming.next();
    if (done) throw invalid("turn", "The stream must carry a turn");
    const run = (tell: Tell) => runSpokenTurn(ctx, first, incoming, call, tell);
    for await (const event of toldEvents(call, run)) yield { event: toResponse(event) };
  };
}

type Tell = (event: SpokenTurnEvent) => void;

/**
 * Runs a turn to its end, whether its runtime reads the events or disconnects. Nothing holds the turn back, because a runtime reads
 * faster than it speaks.
 */
async function* toldEvents(call: Call, run: (tell: Tell) => Promise<void>): AsyncGenerator<SpokenTurnEvent> {
  let waiting: SpokenTurnEvent[] = [];
  let isRead = true;
  let isOver = false;
  let news = Promise.withResolvers<void>();
  const running = run((event) => {
    if (isRead) waiting.push(event);
    news.resolve();
  }).finally(() => {
    isOver = true;
    news.resolve();
  });
  running.catch((err) => {
    if (!isRead || call.signal.aborted) call.log.warn({ err }, "a spoken turn failed after its runtime disconnected");
  });
  try {
    while (!isOver || waiting.length > 0) {
      await news.promise;
      news = Promise.withResolvers();
      const events = waiting;
      waiting = [];
      yield* events;
    }
    await running;
  } finally {
    isRead = false;
  }
}

function toResponse(event: SpokenTurnEvent): NonNullable<ConverseResponse["event"]> {
  switch (event.type) {
    case "text":
      return { $case: "text", value: event.text };
    case "action":
      return { $case: "action", value: { action: toAction(event.action) } };
    case "tool_started": {
      const { toolCallId, name, rules } = event;
      return { $case: "toolStarted", value: { toolCallId, name, rules: toRules(rules) } };
    }
    case "tool_ended":
      return { $case: "toolEnded", value: { toolCallId: event.toolCallId } };
    case "client_call":
      return { $case: "clientCall", value: event.call };
    case "called":
    case "answered":
      return { $case: "toolNews", value: { offset: 0, ...toNews(event) } };
    case "complete":
      return { $case: "complete", value: {} };
    case "stored":
      return { $case: "stored", value: { lastSequence: event.lastSequence } };
  }
}
