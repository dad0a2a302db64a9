import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Turn, TurnStarted } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { Admitted, GateContext } from "../gate.ts";
import { textBody } from "../http/answer/text-body.ts";
import { presentSession, presentSummary } from "../present/conversation.ts";
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
} from "../schemas/chat.ts";
import { ReadConversationQuery } from "../schemas/conversations.ts";
import type { Turns } from "../turns/turns.ts";
import { draftIdOf } from "./draft.ts";
import { endpoint } from "./endpoint.ts";

/** Longer than any turn may take: the conversation service's limits end it first. */
const TURN_TIMEOUT_MS = 660_000;

export function chatRoutes(gate: GateContext, { agents, conversations, turns, getShownAgent }: Clients) {
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
              "With `streaming` true or left out: the reply word by word, while the model generates it. If the body breaks off, the reply was cut short.",
            choice:
              "The reply. `text/plain` when `streaming` is true or left out, `application/json` when it is false.",
          },
          namesChat: true,
          refuses: ["condition", "not_found", "forbidden", "conflict", "model"],
        },
        async (admitted) => {
          const turn = { ...turnOf(admitted), draftId: await draftIdOf(agents, admitted) };
          const letGo = gate.holdOpen(admitted.request);
          try {
            return (admitted.body.streaming ?? true)
              ? await streamedReply(gate, turns, turn, admitted)
              : await wholeReply(turns, turn, admitted);
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
          refuses: ["not_found", "condition", "conflict"],
        },
        async ({ ownerId, params, request: { method }, origin, headers }) => {
          const agentId = params.agent_id ?? "";
          if (method === "HEAD") {
            // A HEAD must have no effect, so it opens no session; the agent may be missing all the same.
            await getShownAgent(ownerId, agentId);
            headers.set("Content-Type", "application/json; charset=utf-8");
            return new Response(null, { headers });
          }
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
      ...endpoint(
        gate,
        {
          id: "getChatSession",
          tag: "Chat",
          summary: "Get a chat session",
          scope: "conversations:read",
          query: ReadConversationQuery,
          isList: true,
          response: ChatSession,
          refuses: ["condition", "not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const { include } = query;
          const [replies, cost] = [include !== undefined, include === "cost"];
          const request = { ownerId, sessionId: params.session_id ?? "", withToolCalls: replies };
          const { session } = await conversations.getChatSession(request, { origin });
          return presentSession(required(session), { replies, cost });
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
    type: ConversationType.CONVERSATION_TYPE_CHAT,
    mayBegin: false,
  };
}

async function wholeReply(turns: Turns, turn: Turn, { write, origin, headers }: Chat): Promise<object> {
  let response = "";
  let sessionId = "";
  await turns.run(turn, {
    ...write,
    origin,
    timeoutMs: TURN_TIMEOUT_MS,
    streamed: false,
    onStarted: (started) => {
      sessionId = started.sessionId;
      tellStarted(headers, started);
    },
    onText: (text) => {
      response += text;
      return null;
    },
  });
  return { response, session_id: sessionId };
}

function tellStarted(headers: Headers, { sessionId, replayed }: TurnStarted): void {
  headers.set("X-Session-ID", sessionId);
  if (replayed) headers.set("Idempotent-Replayed", "true");
}

/**
 * The reply as text, word by word. A failure before the first word is an ordinary error response; after it, the body
 * ends without its terminating chunk, so that a client cannot mistake a part for the whole.
 * @param ended called once the turn is over, however it ends
 */
export async function streamedReply(
  gate: GateContext,
  turns: Turns,
  turn: Turn,
  { ownerId, origin, write, headers, request }: Pick<Chat, "ownerId" | "origin" | "write" | "headers" | "request">,
  ended: () => void = () => {},
): Promise<Response> {
  const words = textBody();
  const run = turns.run(turn, {
    ...write,
    origin,
    timeoutMs: TURN_TIMEOUT_MS,
    streamed: true,
    onStarted: (started) => tellStarted(headers, started),
    onText: words.write,
  });
  run.finally(ended).catch(() => {});
  await Promise.race([run, words.begun]);
  headers.set("Content-Type", "text/plain; charset=utf-8");
  const letGo = gate.holdOpen(request);
  run
    .then(words.end, (err: unknown) => {
      words.breakOff();
      if (err instanceof ServiceError && err.kind === "cancelled") return;
      gate.log.warn({ request_id: origin.requestId, owner_id: ownerId, err }, "reply broken off");
    })
    .finally(letGo);
  return new Response(words.body, { headers });
}
