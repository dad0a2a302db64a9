import type {
  ConversationServiceService,
  StreamTurnResponse,
  Turn,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { PAGE_BYTES_MAX } from "@parley/shared/db/bounded-page";
import { ServiceError } from "@parley/shared/errors";
import type { ServiceClient } from "@parley/shared/rpc/client";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { Admitted, GateContext } from "../gate.ts";
import { codePoints } from "../http/validate.ts";
import { presentSession, presentSummary } from "../present/conversation.ts";
import { pageFigures, pageOf } from "../present/page.ts";
import { required } from "../present/required.ts";
import { ChatBody, ListSessionsQuery, MESSAGE_CHARACTERS_MAX } from "../schemas/chat.ts";
import { ChatReply, ChatSession, ChatSessionList, FirstMessage } from "../schemas/resources.ts";
import { CONVERSATION_BYTES_MAX } from "./answer-sizes.ts";
import { endpoint } from "./endpoint.ts";

/** Longer than any turn may take: the conversation service's own limits end it. */
const TURN_TIMEOUT_MS = 660_000;

export function chatRoutes(gate: GateContext, { conversations }: Clients) {
  return new Elysia({ prefix: "/v1/public" })
    .post(
      "/chat",
      ...endpoint(
        gate,
        {
          id: "sendMessage",
          tag: "Chat",
          summary: "Send a message to an agent",
          scope: "chat",
          body: ChatBody,
          response: ChatReply,
          streamed: {
            type: "text/plain",
            description:
              "With `streaming` true or left out: the reply word by word, while the model makes it. A body that breaks off is a reply cut short.",
            choice:
              "The reply. `text/plain` when `streaming` is true or left out, `application/json` when it is false.",
          },
          namesChat: true,
          refuses: ["condition", "not_found", "forbidden", "conflict", "model"],
        },
        async (admitted) => {
          const turn = turnOf(admitted);
          const letGo = gate.holdOpen(admitted.request);
          try {
            return (admitted.body.streaming ?? true)
              ? await streamedReply(gate, conversations, turn, admitted)
              : await wholeReply(conversations, turn, admitted);
          } finally {
            letGo();
          }
        },
      ),
    )
    .get(
      "/agents/:agent_id/first-message",
      ...endpoint(
        gate,
        {
          id: "startChat",
          tag: "Chat",
          summary: "Open a session with the agent's greeting",
          scope: "chat",
          response: FirstMessage,
          namesChat: true,
          refuses: ["not_found", "condition"],
        },
        async ({ ownerId, params, origin, headers }) => {
          const agentId = params.agent_id ?? "";
          const request = { ownerId, agentId, metadata: undefined };
          const { sessionId, firstMessage } = await conversations.startChat(request, { origin });
          headers.set("X-Session-ID", sessionId);
          return { session_id: sessionId, first_message: firstMessage, agent_id: agentId };
        },
      ),
    )
    .get(
      "/chat/sessions",
      ...endpoint(
        gate,
        {
          id: "listChatSessions",
          tag: "Chat",
          summary: "List chat sessions, newest first",
          scope: "conversations:read",
          answerBytesMax: PAGE_BYTES_MAX,
          query: ListSessionsQuery,
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
      ...endpoint(
        gate,
        {
          id: "getChatSession",
          tag: "Chat",
          summary: "Read a chat session",
          scope: "conversations:read",
          answerBytesMax: CONVERSATION_BYTES_MAX,
          response: ChatSession,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const request = { ownerId, sessionId: params.session_id ?? "" };
          const { session } = await conversations.getChatSession(request, { origin });
          return presentSession(required(session));
        },
      ),
    );
}

type Chat = Admitted<typeof ChatBody.static, unknown>;

/** @throws ServiceError condition when the message is empty or too long */
function turnOf({ ownerId, body, idempotency }: Chat): Turn {
  const length = codePoints(body.message);
  if (length === 0 || length > MESSAGE_CHARACTERS_MAX) {
    throw new ServiceError("condition", `message must be 1 to ${MESSAGE_CHARACTERS_MAX} characters`);
  }
  return {
    ownerId,
    agentId: body.agent_id,
    sessionId: body.session_id ?? undefined,
    message: body.message,
    metadata: body.metadata ?? undefined,
    idempotency,
  };
}

type Conversations = ServiceClient<typeof ConversationServiceService>;

async function wholeReply(conversations: Conversations, turn: Turn, { write, headers }: Chat): Promise<object> {
  const options = { ...write, timeoutMs: TURN_TIMEOUT_MS };
  const { sessionId, response, replayed } = await conversations.completeTurn({ turn }, options);
  headers.set("X-Session-ID", sessionId);
  if (replayed) headers.set("Idempotent-Replayed", "true");
  return { response, session_id: sessionId };
}

/**
 * The reply as text, word by word. Whatever fails before the first word is an ordinary error answer; after it the body ends
 * without its terminating chunk, so that a client cannot take the part for the whole.
 */
async function streamedReply(
  gate: GateContext,
  conversations: Conversations,
  turn: Turn,
  { ownerId, origin, write, headers, request }: Chat,
): Promise<Response> {
  const events = conversations.streamTurn({ turn }, { ...write, timeoutMs: TURN_TIMEOUT_MS })[Symbol.asyncIterator]();
  const started = await events.next();
  if (!started.done && started.value.event?.$case === "started") {
    const { sessionId, replayed } = started.value.event.value;
    headers.set("X-Session-ID", sessionId);
    if (replayed) headers.set("Idempotent-Replayed", "true");
  }
  const first = await events.next();
  headers.set("Content-Type", "text/plain; charset=utf-8");
  const tellBroken = (err: unknown) => {
    if (err instanceof ServiceError && err.kind === "cancelled") return;
    gate.log.warn({ request_id: origin.requestId, owner_id: ownerId, err }, "reply broken off");
  };
  return new Response(words(first, events, { holdOpen: () => gate.holdOpen(request), tellBroken }), { headers });
}

interface Watched {
  holdOpen(): () => void;
  tellBroken(err: unknown): void;
}

async function* words(
  first: IteratorResult<StreamTurnResponse>,
  events: AsyncIterator<StreamTurnResponse>,
  { holdOpen, tellBroken }: Watched,
): AsyncGenerator<string> {
  const letGo = holdOpen();
  try {
    for (let next = first; !next.done; next = await events.next()) {
      if (next.value.event?.$case === "text") yield next.value.event.value;
    }
  } catch (err) {
    tellBroken(err);
    // Breaks the connection off; of anything else that is thrown Bun prints the source into the log.
    throw undefined;
  } finally {
    letGo();
    await events.return?.();
  }
}
