import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { Sdp } from "../../schemas/callbacks.ts";
import { LISTENERS } from "../live.ts";
import { openEndpoint } from "../open-endpoint.ts";
import { answerOffer, bearerOf, CORS, PREFLIGHT, SDP } from "./whip.ts";

const RULES = {
  perAddress: {
    name: "whep",
    /** Limit for one address, which an office may share. */
    perMinute: 120,
    refusal: "Too many listeners from this address. Wait a minute.",
  },
  headers: CORS,
};
const OF_TOKEN = {
  401: "The token is wrong or has expired: ask for another one",
  429: RULES.perAddress.refusal,
};
/** Longer than the process that holds the call may take to answer. */
const CONNECT_MS = 10_000;

/** How browsers listen to calls: WHEP (draft-ietf-wish-whep), with the listener's token instead of a key. */
export function whepRoutes(gate: GateContext, { voices }: Clients) {
  return new Elysia()
    .options(`${LISTENERS}/:conversation_id`, () => new Response(null, { status: 204, headers: PREFLIGHT }))
    .post(
      `${LISTENERS}/:conversation_id`,
      ...openEndpoint(
        gate,
        {
          id: "connectListener",
          tag: "Conversations",
          summary: "Connect a browser that listens to a call",
          description:
            "WHEP. Browsers call it at the `url` of `listenToConversation`, with its token (docs/live.md). An offer that would also send is answered `sendonly`.",
          security: ["ListenerToken"],
          body: { type: SDP, schema: Sdp },
          success: {
            201: {
              description: "The call can be heard.",
              headers: ["Location"],
              content: { type: SDP, schema: Sdp },
            },
          },
          refuses: {
            ...OF_TOKEN,
            400: "5 people listen to this call already",
            408: "The request body must arrive within 10 seconds",
            409: "Nobody is on the line in this call",
            413: "The request body must be at most 16 KiB",
            415: "The request body must be sent with Content-Type: application/sdp",
            422: "The SDP offer cannot be answered: it has no audio",
            504: "The voice service did not answer in time",
          },
        },
        RULES,
        async ({ request, requestId, params }) => {
          const token = bearerOf(request, "listener's");
          const conversationId = params.conversation_id ?? "";
          const origin = { requestId, signal: request.signal };
          return answerOffer(request, `${LISTENERS}/${conversationId}`, (offer) =>
            voices.connectListener({ conversationId, token, offer }, { origin, timeoutMs: CONNECT_MS }),
          );
        },
      ),
    )
    .delete(
      `${LISTENERS}/:conversation_id`,
      ...openEndpoint(
        gate,
        {
          id: "endListener",
          tag: "Conversations",
          summary: "Stop listening to a call",
          description: "WHEP. Closing the connection has the same effect. Safe to repeat.",
          security: ["ListenerToken"],
          success: { 200: { description: "The listener is gone. The call goes on." } },
          refuses: OF_TOKEN,
        },
        RULES,
        async ({ request, requestId, params }) => {
          const conversationId = params.conversation_id ?? "";
          const listener = { conversationId, token: bearerOf(request, "listener's") };
          await voices.endListener(listener, { origin: { requestId }, timeoutMs: CONNECT_MS });
          return new Response(null, { status: 200 });
        },
      ),
    );
}
