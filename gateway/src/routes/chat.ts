import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { ClientResult, Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { presentSession, presentSummary } from "@parley/shared/domain/present/conversation";
import { STARTING_MS } from "@parley/shared/domain/start-webhook";
import { invalid, ServiceError } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { Admitted, GateContext } from "../gate.ts";
import { pageFigures, pageOf } from "../present/page.ts";
import { required } from "../present/required.ts";
import {
  ChatBody,
  ChatReply,
  ChatSession,
  ChatSessionList,
  FirstMessage,
  ListSessionsQuery,
  MESSAGE_CHARACTERS_MAX,
  StartChatQuery,
  type ToolResultGiven,
} from "../schemas/chat.ts";
import { includedBy, ReadConversationQuery } from "../schemas/conversations.ts";
import { acceptsEvents, eventReply } from "../turns/event-reply.ts";
import { textReply, wholeReply } from "../turns/replies.ts";
import { draftIdOf } from "./draft.ts";
import { endpoints } from "./endpoint.ts";
import { versionOf } from "./version.ts";

export function chatRoutes(gate: GateContext, { agents, conversations, turns, readAgent }: Clients) {
  const route = endpoints(gate, { tag: "Chat" });
  return new Elysia({ prefix: "/v1/public" })
    .post(
      "/chat",
      ...route(
        {
          id: "sendMessage",
          summary: "Send a message to an agent",
          scope: "chat",
          body: ChatBody,
          response: ChatReply,
          streamed: {
            forms: {
              "text/plain":
                "With `streaming` true or left out: the reply word by word, while the model generates it. If the body breaks off, the reply was cut short.",
              "text/event-stream":
                "The same, with `Accept: text/event-stream`: the events `started`, `text`, `tool_call`, `tool_result`, and at the end `done`, with the `sources` and the `knowledge` of a reply from knowledge bases, or `error`. If the body ends without one of these, the reply was cut short.",
            },
            choice:
              "The reply. `application/json` when `streaming` is false; otherwise `text/event-stream` for a request that accepts it, and `text/plain` for others.",
          },
          namesChat: true,
          refuses: ["condition", "not_found", "forbidden", "conflict", "model"],
        },
        async (admitted) => {
          const form = formOf(admitted);
          const draftId = await draftIdOf(agents, admitted);
          const turn = {
            ...turnOf(admitted, form),
            ...(draftId === undefined ? versionOf(admitted.body) : { draftId }),
          };
          return REPLIES[form](gate, turns, turn, admitted);
        },
      ),
    )
    .get(
      "/agents/:agent_id/first-message",
      ...route(
        {
          id: "startChat",
          summary: "Open a session with the agent's greeting",
          scope: "chat",
          query: StartChatQuery,
          response: FirstMessage,
          namesChat: true,
          refuses: ["not_found", "condition", "conflict", "start"],
        },
        async ({ ownerId, params, query, request: { method }, origin, headers }) => {
          const agentId = params.agent_id ?? "";
          if (method === "HEAD") {
            // A HEAD must have no effect, so it opens no session; the agent may be missing all the same.
            await readAgent({ ownerId, agentId });
            headers.set("Content-Type", "application/json; charset=utf-8");
            return new Response(null, { headers });
          }
          const request = { ownerId, agentId, metadata: undefined, ...versionOf(query) };
          const { sessionId, firstMessage } = await conversations.startChat(request, {
            origin,
            timeoutMs: STARTING_MS,
          });
          headers.set("X-Session-ID", sessionId);
          return { session_id: sessionId, first_message: firstMessage, agent_id: agentId };
        },
      ),
    )
    .get(
      "/chat/sessions",
      ...route(
        {
          id: "listChatSessions",
          summary: "List chat sessions, newest first",
          scope: "conversations:read",
          query: ListSessionsQuery,
          isList: true,
          response: ChatSessionList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const request = { ownerId, page, agentId: query.agent_id ?? "" };
          const { sessions, total } = await conversations.listChatSessions(request, { origin });
          const figures = pageFigures(total, page);
          return {
            object: "list",
            data: sessions.map(presentSummary),
            has_more: page.number < figures.total_pages,
            ...figures,
          };
        },
      ),
    )
    .get(
      "/chat/sessions/:session_id",
      ...route(
        {
          id: "getChatSession",
          summary: "Get a chat session",
          scope: "conversations:read",
          query: ReadConversationQuery,
          isList: true,
          response: ChatSession,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const shown = includedBy(query);
          const sessionId = params.session_id ?? "";
          const request = { ownerId, sessionId, withToolCalls: shown.replies, withKnowledge: shown.sources };
          const { session } = await conversations.getChatSession(request, { origin });
          return presentSession(required(session), shown);
        },
      ),
    );
}

type Chat = Admitted<typeof ChatBody.static, unknown>;

/** The forms of a reply; only a text has no place for calls that the client makes. */
const REPLIES = { whole: wholeReply, text: textReply, events: eventReply };

/** `streaming: false` counts more than the header, which libraries may set by themselves. */
function formOf({ body, request }: Chat): keyof typeof REPLIES {
  if (body.streaming === false) return "whole";
  return acceptsEvents(request.headers.get("accept")) ? "events" : "text";
}

function turnOf(chat: Chat, form: keyof typeof REPLIES): Turn {
  const { ownerId, body, idempotency } = chat;
  return {
    ownerId,
    agentId: body.agent_id,
    sessionId: body.session_id ?? undefined,
    ...saidOf(body),
    metadata: body.metadata ?? undefined,
    idempotency,
    type: ConversationType.CONVERSATION_TYPE_CHAT,
    mayBegin: false,
    clientTools: body.client_tools === true && form !== "text",
    tellsTools: form === "events",
  };
}

/**
 * The message, or the results in its place.
 * @throws ServiceError condition when the message is empty or too long; invalid when there is neither, or both
 */
function saidOf({ message, tool_results, session_id }: Chat["body"]): Pick<Turn, "message" | "toolResults"> {
  const given = tool_results ?? [];
  if (given.length === 0) {
    if (message === undefined) throw invalid("message", "message is required");
    const length = codePoints(message);
    if (length === 0 || length > MESSAGE_CHARACTERS_MAX) {
      throw new ServiceError("condition", `message must be 1 to ${MESSAGE_CHARACTERS_MAX} characters`);
    }
    return { message, toolResults: [] };
  }
  if (message !== undefined) throw invalid("tool_results", "tool_results must not be sent together with message");
  if (!session_id) throw invalid("session_id", "session_id is required with tool_results");
  return { message: "", toolResults: given.map(clientResult) };
}

/** What the model is told of a result: a text as it is, other values as JSON. */
function clientResult({ tool_call_id, result, error }: ToolResultGiven, at: number): ClientResult {
  const isError = typeof error === "string";
  if (isError === (result !== undefined))
    throw invalid(`tool_results.${at}`, `tool_results.${at} must have either result or error`);
  if (isError) return { toolCallId: tool_call_id, result: error, isError };
  return { toolCallId: tool_call_id, result: typeof result === "string" ? result : JSON.stringify(result), isError };
}
