import type { ConverseResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import { told } from "@parley/shared/rpc/told";
import { toAction, toRules } from "../calls/call-action.ts";
import { runSpokenTurn, type SpokenTurnEvent } from "../calls/spoken-turn.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { toNews } from "../tools/telling.ts";

/** One spoken turn of a call (docs/voice-runtimes.md#spoken-turns). */
export function converse(ctx: ConversationContext): Handler<"converse"> {
  return async function* (requests, call) {
    const incoming = requests[Symbol.asyncIterator]();
    const { done, value: first } = await incoming.next();
    if (done) throw invalid("turn", "The stream must carry a turn");
    const run = (tell: Tell) => runSpokenTurn(ctx, first, incoming, call, tell);
    // Nothing holds the turn back, because a runtime reads faster than it speaks.
    for await (const event of told(call, run, "a spoken turn failed after its runtime disconnected"))
      yield { event: toResponse(event) };
  };
}

type Tell = (event: SpokenTurnEvent) => void;

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
