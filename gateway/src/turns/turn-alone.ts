import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Conversations, TurnCall } from "./turn-stream.ts";

/** Runs a turn in a call of its own: a long one, or one at a replica of the release before `RunTurns`. @throws ServiceError */
export async function runAlone(conversations: Conversations, turn: Turn, call: TurnCall): Promise<void> {
  if (!call.streamed) {
    const { sessionId, response, replayed } = await conversations.completeTurn({ turn }, call);
    call.onStarted({ sessionId, replayed });
    await call.onText(response);
    return;
  }
  for await (const { event } of conversations.streamTurn({ turn }, call)) {
    if (event?.$case === "started") call.onStarted(event.value);
    if (event?.$case === "text") await call.onText(event.value);
  }
}
