import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { Admitted, GateContext } from "../gate.ts";
import { eventReply } from "../live/event-reply.ts";
import { endpoint } from "./endpoint.ts";

const EVENTS = "text/event-stream";

/** Running conversations: what is seen of them, and how they are steered (docs/live.md). */
export function liveRoutes(gate: GateContext, { conversations }: Clients) {
  const watched = async (admitted: Admitted<unknown, unknown>, conversationId: string | undefined) => {
    const { ownerId, request, origin, headers } = admitted;
    if (request.method === "HEAD") {
      if (conversationId !== undefined) await conversations.checkConversation({ ownerId, conversationId }, { origin });
      headers.set("Content-Type", `${EVENTS}; charset=utf-8`);
      return new Response(null, { headers });
    }
    return eventReply(gate, conversations, { ownerId, conversationId, withoutWords: false }, admitted);
  };
  return new Elysia({ prefix: "/v1/public/conversations" })
    .get(
      "/events",
      ...endpoint(
        gate,
        {
          id: "watchConversations",
          tag: "Conversations",
          summary: "Watch which conversations begin and end",
          description:
            "Server-sent events of all conversations, `started` and `ended`, from now or from `Last-Event-ID` on.",
          scope: "conversations:read",
          headers: ["Last-Event-ID"],
          streamed: {
            forms: { [EVENTS]: "The events `started` and `ended`, each with the conversation without its transcript." },
            choice: "The events, as they happen. A comment every 15 seconds keeps the connection open.",
          },
        },
        (admitted) => watched(admitted, undefined),
      ),
    )
    .get(
      "/:conversation_id/events",
      ...endpoint(
        gate,
        {
          id: "watchConversation",
          tag: "Conversations",
          summary: "Watch a running conversation",
          description:
            "Server-sent events of one conversation, from a snapshot or from `Last-Event-ID` on, until `ended`. An `id` is the same for every watcher and known for ten minutes.",
          scope: "conversations:read",
          headers: ["Last-Event-ID"],
          streamed: {
            forms: {
              [EVENTS]:
                "The events `snapshot`, `message`, `tool_call`, `tool_result`, `speaking`, `state`, `handoff`, `transfer`, `ended` and `error`.",
            },
            choice: "The events, as they happen. A comment every 15 seconds keeps the connection open.",
          },
          empty: "The conversation has ended, and `Last-Event-ID` is its last event: browsers do not connect again.",
          refuses: ["not_found"],
        },
        (admitted) => watched(admitted, admitted.params.conversation_id ?? ""),
      ),
    );
}
