import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { startTurn } from "../turn/start-turn.ts";
import { turnOf } from "./stream-turn.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["completeTurn"]>;

export function completeTurn(ctx: ConversationContext): Handler {
  return async (request, call) => {
    const running = await startTurn(ctx, turnOf(request), call);
    return { sessionId: running.sessionId, response: await running.complete(), replayed: running.replayed };
  };
}
