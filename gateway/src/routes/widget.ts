import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { isFull } from "@parley/shared/domain/full";
import { ServiceError } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { jsonAnswer } from "../http/answer/answers.ts";
import { compressedForms, staticAsset } from "../http/answer/static-asset.ts";
import { readJson, STRANGERS_WITHIN_MS } from "../http/body.ts";
import { validator } from "../http/validate.ts";
import { watchReply } from "../live/watch-reply.ts";
import { presentToVisitor } from "../present/live.ts";
import { required } from "../present/required.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";
import { Reply } from "../schemas/callbacks.ts";
import { MESSAGE_CHARACTERS_MAX } from "../schemas/chat.ts";
import { VisitorEvents, WidgetMessageBody, WidgetToken, WidgetTokenBody } from "../schemas/widget.ts";
import { acceptsEvents, eventReply } from "../turns/event-reply.ts";
import { textReply } from "../turns/replies.ts";
import script from "../widget/widget.js" with { type: "file" };
import { type OpenRequest, openEndpoint } from "./open-endpoint.ts";

const TOKENS = "/v1/public/widget-tokens";
const MESSAGES = "/v1/public/widget-messages";

const EVENTS = "/v1/public/widget-events";

const BODY = { bytesMax: 32 * 1024, withinMs: STRANGERS_WITHIN_MS };
/** Requests per minute: of an address, which an office may share, and of an owner, whose pages have many visitors. */
const LIMITS = {
  tokensOfAddress: 60,
  tokensOfOwner: 1_200,
  messagesOfSession: 20,
  messagesOfAddress: 120,
  eventsOfAddress: 300,
};
/** A visitor's token is looked at again this often. */
const CHECK_EVERY_MS = 60_000;
const MESSAGES_OF_OWNER_PER_MINUTE = 600;
/** Replies to visitors of an owner in progress in this process: far fewer than the owner's own programs may have. */
const REPLIES_OF_OWNER = 32;

/** The token says who may write, and its origin from which page, so any page may ask. */
const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "X-Session-ID, X-Request-ID" };
const PREFLIGHT = {
  ...CORS,
  "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
  "Access-Control-Allow-Headers": "Authorization, Content-Type, Last-Event-ID",
  "Access-Control-Max-Age": "86400",
};

/** The website widget: its script, and what it asks for without a key (docs/widget.md). */
export function widgetRoutes(gate: GateContext, { messaging, turns, ...clients }: Clients) {
  const asset = staticAsset(
    compressedForms(() => Bun.file(script).bytes()),
    {
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": "public, max-age=3600",
      "Access-Control-Allow-Origin": "*",
      "Cross-Origin-Resource-Policy": "cross-origin",
      "X-Content-Type-Options": "nosniff",
    },
  );
  const checkToken = validator(WidgetTokenBody);
  const checkMessage = validator(WidgetMessageBody);
  const replies = new Map<string, number>();
  const take = async (key: string, limit: number, what: string) =>
    refuseOverRate(await gate.addressLimiter.take(`widget-${key}`, limit), `Too many ${what}. Wait a minute.`);

  async function createToken({ request, requestId }: OpenRequest): Promise<Response> {
    const body = checkToken((await readJson(request, BODY)).value) as typeof WidgetTokenBody.static;
    const asked = { agentId: body.agent_id, origin: originOf(request), renews: body.token };
    const { ownerId, ...created } = await messaging.createWidgetToken(asked, { origin: { requestId } });
    await take(`tokens:${ownerId}`, LIMITS.tokensOfOwner, "chats with this account's agents");
    return jsonAnswer(
      200,
      {
        token: created.token,
        expires_at: required(created.expiresAt).toISOString(),
        session_id: created.sessionId,
        agent_name: created.agentName,
        widget_config: created.widgetConfig ?? {},
      },
      new Headers({ "Cache-Control": "no-store" }),
    );
  }

  async function sendMessage({ request, requestId, address }: OpenRequest): Promise<Response> {
    const origin = originOf(request);
    const token = bearerOf(request);
    const grant = await messaging.openWidgetToken({ token, origin }, { origin: { requestId } });
    const { ownerId, agentId, sessionId } = grant;
    await take(`session:${ownerId} ${sessionId}`, LIMITS.messagesOfSession, "messages in this chat");
    const { message } = checkMessage((await readJson(request, BODY)).value) as {
      message: string;
    };
    const length = codePoints(message);
    if (length === 0 || length > MESSAGE_CHARACTERS_MAX)
      throw new ServiceError("condition", `message must be 1 to ${MESSAGE_CHARACTERS_MAX} characters`);
    await take(`messages:${ownerId}`, MESSAGES_OF_OWNER_PER_MINUTE, "visitors are writing to this account's agents");
    const turn = Turn.fromPartial({
      ownerId,
      agentId,
      sessionId,
      message,
      metadata: { widget_origin: origin },
      type: ConversationType.CONVERSATION_TYPE_CHAT,
      mayBegin: true,
      fromWidget: true,
    });
    const headers = new Headers({ "Cache-Control": "no-store" });
    const call = { ownerId, request, headers, write: {}, origin: { requestId, signal: request.signal } };
    try {
      if (!acceptsEvents(request.headers.get("accept"))) {
        const ended = await enter(ownerId, address, requestId);
        return await textReply(gate, turns, turn, { ...call, ended });
      }
      const { widgetConfig } = await clients.agents.getWidget({ agentId }, call);
      const hidesSources = widgetConfig?.show_sources !== true;
      const ended = await enter(ownerId, address, requestId);
      return await eventReply(gate, turns, turn, { ...call, hidesSources, ended });
    } catch (error) {
      // The owner's remedy is not for visitors.
      throw isFull(error) ? new ServiceError("unavailable", NO_ROOM, { retryAfterMs: NO_ROOM_RETRY_MS }) : error;
    }
  }

  async function watchSession({ request, requestId }: OpenRequest): Promise<Response> {
    const asked = { token: bearerOf(request), origin: originOf(request) };
    const open = () => messaging.openWidgetToken(asked, { origin: { requestId } });
    const { ownerId, sessionId } = await open();
    return watchReply(
      gate,
      clients.conversations,
      { ownerId, conversationId: sessionId, withoutWords: true },
      {
        request,
        origin: { requestId, signal: request.signal },
        headers: new Headers({ "Cache-Control": "no-store" }),
        check: open,
        checkEveryMs: CHECK_EVERY_MS,
        countedAs: `visitors of ${ownerId}`,
        present: presentToVisitor,
      },
    );
  }

  /**
   * Counts a message that nothing else refuses: refused ones must not use up the owner's day.
   * @returns ends the reply
   * @throws ServiceError rate_limited when the owner's visitors have too many replies in progress, or this address
   *   or all have sent the most of a day
   */
  async function enter(ownerId: string, address: string, requestId: string): Promise<() => void> {
    const underWay = replies.get(ownerId) ?? 0;
    if (underWay >= REPLIES_OF_OWNER)
      throw new ServiceError("rate_limited", "Too many visitors are being answered. Wait a moment.", {
        retryAfterMs: 2_000,
      });
    replies.set(ownerId, underWay + 1);
    const letGo = () => {
      const left = (replies.get(ownerId) ?? 1) - 1;
      if (left > 0) replies.set(ownerId, left);
      else replies.delete(ownerId);
    };
    try {
      await messaging.countWidgetMessage({ ownerId, address }, { origin: { requestId } });
      return letGo;
    } catch (error) {
      letGo();
      throw error;
    }
  }

  const preflight = () => new Response(null, { status: 204, headers: PREFLIGHT });
  return new Elysia()
    .get("/widget.js", ({ request }) => asset(request))
    .options(TOKENS, preflight)
    .options(MESSAGES, preflight)
    .options(EVENTS, preflight)
    .post(
      TOKENS,
      ...openEndpoint(
        gate,
        {
          id: "createWidgetToken",
          tag: "Chat",
          summary: "Let a website's visitor chat",
          description: "The widget's script calls this on the page that shows it (docs/widget.md).",
          security: [],
          headers: ["Origin"],
          body: { type: "application/json", schema: WidgetTokenBody },
          success: {
            200: { description: "Success.", content: { type: "application/json", schema: WidgetToken } },
          },
          refuses: {
            ...OF_BODY,
            401: "The widget token is wrong or has expired: request another one",
            403: "https://shop.example is not in widget_config.allowed_origins of the agent's published version: add it there",
            404: "Agent not found",
            422: "agent_id is required",
            429: "Too many chats from this address. Wait a minute.",
          },
        },
        rules("tokens", LIMITS.tokensOfAddress, "chats from this address"),
        createToken,
      ),
    )
    .post(
      MESSAGES,
      ...openEndpoint(
        gate,
        {
          id: "sendWidgetMessage",
          tag: "Chat",
          summary: "Send a visitor's message",
          description:
            "A failure before the first word is an error response. After it, the body ends without its terminating chunk.",
          security: ["WidgetToken"],
          headers: ["Origin"],
          body: { type: "application/json", schema: WidgetMessageBody },
          success: {
            200: {
              description:
                "The reply, streamed: as text, or with `Accept: text/event-stream` as the events `started`, `text`, and `done` or `error`. With `widget_config.show_sources`, `done` has the `sources` and the `knowledge` of the reply.",
              headers: ["X-Session-ID"],
              content: { type: "text/plain", schema: Reply },
            },
          },
          refuses: {
            ...OF_BODY,
            400: `message must be 1 to ${MESSAGE_CHARACTERS_MAX} characters`,
            401: "The widget token is wrong or has expired: request another one",
            404: "Agent not found",
            409: "A reply is in progress in this session. Wait for it to end.",
            422: "message is required",
            429: "Too many messages in this chat. Wait a minute.",
            502: "The OPENAI model provider failed",
            504: "The OPENAI model provider did not begin to answer in time",
          },
        },
        rules("messages", LIMITS.messagesOfAddress, "messages from this address"),
        sendMessage,
      ),
    )
    .get(
      EVENTS,
      ...openEndpoint(
        gate,
        {
          id: "watchWidget",
          tag: "Chat",
          summary: "Watch a visitor's own chat",
          description:
            "Server-sent events of the token's chat, once it has begun: `snapshot`, whole messages as `message`, `state` and `ended`. The widget shows with it what an operator writes. `Last-Event-ID` resumes as in `GET /v1/public/conversations/{conversation_id}/events`.",
          security: ["WidgetToken"],
          headers: ["Origin", "Last-Event-ID"],
          success: {
            200: { description: "The events.", content: { type: "text/event-stream", schema: VisitorEvents } },
            204: { description: "The chat has ended, and `Last-Event-ID` is its last event." },
          },
          refuses: {
            401: "The widget token is wrong or has expired: request another one",
            404: "Conversation not found",
            429: "Too many connections from this address. Wait a minute.",
          },
        },
        rules("events", LIMITS.eventsOfAddress, "connections from this address"),
        watchSession,
      ),
    );
}

const NO_ROOM = "This chat takes no messages at the moment. Try again later.";
const NO_ROOM_RETRY_MS = 60_000;

const OF_BODY = {
  400: "The request body must be a JSON object",
  408: "The request body must arrive within 10 seconds",
  413: "The request body must be at most 32 KiB",
  415: "The request body must be sent with Content-Type: application/json",
};

const rules = (name: string, perMinute: number, what: string) => ({
  perAddress: { name: `widget-${name}`, perMinute, refusal: `Too many ${what}. Wait a minute.` },
  headers: CORS,
});

/** The page's origin; empty if the request names none. */
function originOf({ headers }: Request): string {
  return headers.get("origin") ?? "";
}

/** @throws ServiceError unauthenticated */
function bearerOf(request: Request): string {
  const [, token] = /^Bearer +([\w.-]{1,1500})$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined)
    throw new ServiceError("unauthenticated", "The widget token is missing: send it as Authorization: Bearer");
  return token;
}
