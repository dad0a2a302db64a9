import type {
  ConversationServiceService,
  ConverseResponse,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import { toAction } from "../calls/call-action.ts";
import { runSpokenTurn, type SpokenTurnEvent } from "../calls/spoken-turn.ts";
import type { ConversationContext } from "../context.ts";
import { toldEvents } from "./told-events.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["converse"]>;

/** One spoken turn of a call (docs/voice-runtimes.md#spoken-turns). */
export function converse(ctx: ConversationContext): Handler {
  return async function* (requests, call) {
    const incoming = requests[Symbol.asyncIterator]();
    const { done, value: first } = await incoming.next();
    if (done) throw invalid("turn", "The stream must carry a turn");
    // They are not held back: a runtime reads faster than it speaks.
    const run = (tell: (event: SpokenTurnEvent) => unknown) => runSpokenTurn(ctx, first, incoming, call, tell);
    const events = toldEvents(call, run, "a spoken turn failed after its runtime disconnected");
    for await (const event of events) yield { event: toResponse(event) };
  };
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
