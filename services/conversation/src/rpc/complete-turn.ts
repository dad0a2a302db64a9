import type { CompleteTurnResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { runTurn } from "../turn/turn.ts";

export function completeTurn(ctx: ConversationContext): Handler<"completeTurn"> {
  return async ({ turn }, call) => {
    const answer: CompleteTurnResponse = { sessionId: "", response: "", replayed: false, replySequence: 0 };
    let replySeq = 0;
    await runTurn(ctx, turn, call, "whole", (event) => {
      if (event.type === "text") answer.response += event.text;
      else if (event.type === "started") {
        Object.assign(answer, { sessionId: event.sessionId, replayed: event.replayed });
        replySeq = event.replySeq;
      } else if (event.type === "operator") answer.isOperators = true;
      return null;
    });
    return answer.response === "" ? answer : { ...answer, replySequence: replySeq };
  };
}
