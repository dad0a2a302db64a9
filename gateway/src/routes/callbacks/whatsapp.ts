import { ServiceError } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { Challenge, HandshakeQuery, WhatsAppCallback } from "../../schemas/callbacks.ts";
import { openEndpoint } from "../open-endpoint.ts";
import { limitGuesses, unverifiedBodies } from "./unverified.ts";

const PATH = "/v1/carriers/whatsapp/:connection_id";

const MIB = 1024 * 1024;
const BODIES = {
  what: "callbacks",
  name: "callbacks",
  // The most that Meta sends (developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint).
  bytesMax: 3 * MIB,
  firstBytes: 8 * 1024,
  addressBytes: 6 * MIB,
  totalBytes: 48 * MIB,
  // The runtime may have received a megabyte of each.
  unknownMax: 100,
};
/** Limit for one address: Meta calls from many addresses, and each may serve many owners. */
const RULES = {
  perAddress: {
    name: "callback",
    perMinute: 6_000,
    refusal: "Too many callbacks from this address. Wait a minute.",
  },
};
const CHALLENGE = /^[\w-]{1,200}$/;

/** Where WhatsApp reports messages and statuses. Nobody is authenticated: the signature over the body counts. */
export function whatsAppCallbackRoutes(gate: GateContext, { messaging }: Clients) {
  const receive = unverifiedBodies(gate, BODIES);
  return new Elysia()
    .get(
      PATH,
      ...openEndpoint(
        gate,
        {
          id: "verifyWhatsAppWebhook",
          tag: "Callbacks",
          summary: "Verify the webhook for Meta",
          description: "Meta calls it once, when the callback URL is set in the App Dashboard (docs/whatsapp.md).",
          security: ["WhatsAppVerifyToken"],
          query: HandshakeQuery,
          success: {
            200: { description: "The verify token is right.", content: { type: "text/plain", schema: Challenge } },
          },
          refuses: {
            400: "hub.mode must be subscribe, and hub.challenge letters and digits",
            403: "hub.verify_token is not the verify_token of this WhatsApp connection",
            429: RULES.perAddress.refusal,
          },
        },
        RULES,
        async ({ request, requestId, params, address }) => {
          const query = new URL(request.url).searchParams;
          const verifyToken = query.get("hub.verify_token") ?? "";
          const challenge = query.get("hub.challenge") ?? "";
          if (query.get("hub.mode") !== "subscribe" || !CHALLENGE.test(challenge))
            throw new ServiceError("condition", "hub.mode must be subscribe, and hub.challenge letters and digits");
          const carrierId = params.connection_id ?? "";
          await limitGuesses(gate, { ...BODIES, id: carrierId, address, request }, () =>
            messaging.verifyWhatsAppWebhook({ carrierId, verifyToken }, { origin: { requestId } }),
          );
          return new Response(challenge, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
        },
      ),
    )
    .post(
      PATH,
      ...openEndpoint(
        gate,
        {
          id: "handleWhatsAppCallback",
          tag: "Callbacks",
          summary: "Receive messages and statuses from WhatsApp",
          description:
            "Acknowledged as soon as messages and statuses are stored. A callback may arrive more than once; each message is processed once.",
          security: ["WhatsAppSignature"],
          body: { type: "application/json", schema: WhatsAppCallback },
          success: { 200: { description: "Accepted." } },
          refuses: {
            400: "The request body is not valid JSON",
            403: "X-Hub-Signature-256 is not the signature of this body by the app's secret",
            404: "WhatsApp connection not found",
            408: "The request body must arrive within 10 seconds",
            413: "The request body must be at most 3 MiB",
            415: "The request body must be sent without Content-Encoding",
            429: RULES.perAddress.refusal,
          },
        },
        RULES,
        async (open) => {
          const carrierId = open.params.connection_id ?? "";
          const signature = open.request.headers.get("x-hub-signature-256") ?? "";
          // Not cancelled with the request: what is in progress may as well become durable.
          const origin = { requestId: open.requestId };
          await receive(open, {
            id: carrierId,
            check: (asked) => messaging.checkWhatsAppConnection({ carrierId }, { origin: asked }),
            pass: (body) => messaging.handleWhatsAppCallback({ carrierId, body, signature }, { origin }),
          });
          return new Response(null, { status: 200 });
        },
      ),
    );
}
