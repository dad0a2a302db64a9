import { ConversationStatus, ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { ControlConversationRequest } from "@parley/proto/parley/conversation/v1/live.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { Admitted, GateContext } from "../gate.ts";
import { watchReply } from "../live/watch-reply.ts";
import { presentOperator } from "../present/live.ts";
import { required } from "../present/required.ts";
import { ControlAccepted, ControlBody, Listening } from "../schemas/live.ts";
import { endpoints } from "./endpoint.ts";

type Action = NonNullable<ControlConversationRequest["action"]>;

const EVENTS = "text/event-stream";

/** Running conversations: what is seen of them, and how they are steered (docs/live.md). */
export function liveRoutes(gate: GateContext, { conversations, voices }: Clients) {
  const route = endpoints(gate, { tag: "Conversations" });
  const watched = async (admitted: Admitted<unknown, unknown>, conversationId: string | undefined) => {
    const { ownerId, request, origin, headers } = admitted;
    if (request.method === "HEAD") {
      if (conversationId !== undefined) await conversations.checkConversation({ ownerId, conversationId }, { origin });
      headers.set("Content-Type", `${EVENTS}; charset=utf-8`);
      return new Response(null, { headers });
    }
    return watchReply(gate, conversations, { ownerId, conversationId, withoutWords: false }, admitted);
  };
  return new Elysia({ prefix: "/v1/public/conversations" })
    .get(
      "/events",
      ...route(
        {
          id: "watchConversations",
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
      ...route(
        {
          id: "watchConversation",
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
    )
    .post(
      "/:conversation_id/control",
      ...route(
        {
          id: "controlConversation",
          summary: "Steer a running conversation",
          description:
            "One action, answered once it is accepted (docs/live.md). 400 if the channel cannot do it; 409 if the conversation has ended, or somebody else has taken it over.",
          scope: "conversations:control",
          body: ControlBody,
          response: ControlAccepted,
          refuses: ["condition", "not_found", "conflict"],
        },
        async ({ ownerId, params, body, origin }) => {
          const conversationId = params.conversation_id ?? "";
          const request = { ownerId, conversationId, action: actionOf(body) };
          const { operator } = await conversations.controlConversation(request, { origin, timeoutMs: CONTROL_MS });
          return presentOperator(required(operator));
        },
      ),
    )
    .post(
      "/:conversation_id/listen",
      ...route(
        {
          id: "listenToConversation",
          summary: "Listen to a running call",
          description:
            "Answers where a browser connects with WHEP to hear both sides of the call (docs/live.md). The caller hears nothing of it. 400 for a chat; 409 if the call has ended, or nobody is on the line.",
          scope: "conversations:listen",
          response: Listening,
          refuses: ["condition", "not_found", "conflict"],
        },
        async ({ ownerId, params, request, origin }) => {
          const key = { ownerId, conversationId: params.conversation_id ?? "" };
          const { conversation } = await conversations.getConversation(key, { origin });
          const { type, status } = required(conversation);
          if (TEXTS.includes(type)) throw new ServiceError("condition", "Only a call can be listened to");
          if (status !== ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS)
            throw new ServiceError("conflict", "The conversation has ended");
          const { token, expiresAt } = await voices.createListener(key, { origin });
          const base = gate.publicUrl || new URL(request.url).origin;
          const url = `${base}${LISTENERS}/${key.conversationId}`;
          return { url, token, expires_at: required(expiresAt).toISOString() };
        },
      ),
    );
}

/** Where listeners connect. */
export const LISTENERS = "/v1/public/listeners";
const TEXTS: readonly ConversationType[] = [
  ConversationType.CONVERSATION_TYPE_CHAT,
  ConversationType.CONVERSATION_TYPE_WHATSAPP,
];

/** Longer than an operator's message waits for the reply that is written. */
const CONTROL_MS = 20_000;

/** @throws ServiceError invalid when the action lacks its field */
function actionOf({ action, text, to, agent_id, message }: typeof ControlBody.static): Action {
  const needed = (field: string, value: string | undefined): string => {
    if (value === undefined || value === "") throw invalid(field, `${field} is required with the action ${action}`);
    return value;
  };
  switch (action) {
    case "say":
    case "inject":
      return { $case: action, value: needed("text", text) };
    case "mute":
    case "unmute":
      return { $case: "mute", value: action === "mute" };
    case "take_over":
    case "give_back":
      return { $case: "takeOver", value: action === "take_over" };
    case "transfer":
      return { $case: "transfer", value: needed("to", to) };
    case "handoff":
      return { $case: "handoff", value: needed("agent_id", agent_id) };
    case "end":
      return { $case: "end", value: { message: message ?? "" } };
  }
}
