import { ServiceError } from "@parley/shared/errors";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { readRaw } from "../http/body.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";
import { Challenge, HandshakeQuery, WhatsAppCallback } from "../schemas/callbacks.ts";
import { openEndpoint } from "./open-endpoint.ts";

const PATH = "/v1/carriers/whatsapp/:connection_id";

const MIB = 1024 * 1024;
/** What Meta sends at most (developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint). */
const BODY_BYTES_MAX = 3 * MIB;
/** Bodies whose signature is not verified yet, by the address that sends them: nobody fills the share of Meta. */
const UNVERIFIED = { what: "callbacks", totalBytes: 48 * MIB, ownerBytes: 6 * MIB, waitingMax: 100, waitMs: 5_000 };
/** Most bodies are shorter; longer ones take memory as they arrive, so that a slow sender holds no more than it sent. */
const FIRST_BYTES = 8 * 1024;
const WITHIN_MS = 10_000;
/** Meta calls from many addresses, and each may serve many owners. */
const RULES = {
  perAddress: {
    name: "callback",
    perMinute: 6_000,
    refusal: "Too many callbacks came from this address, wait a minute",
  },
};
/** Callbacks of one address with a wrong id, token or signature, and handshakes. */
const WRONG_PER_MINUTE = 60;
const RETRY = { retryAfterMs: 1_000 };
const CHALLENGE = /^[\w-]{1,200}$/;

/** Where WhatsApp tells of messages and statuses. Nobody is authenticated: the signature over the body counts. */
export function whatsAppCallbackRoutes(gate: GateContext, { messaging }: Clients) {
  const shares = byteShares(UNVERIFIED);
  observeHeldBytes("callbacks", () => shares.heldBytes());
  return new Elysia()
    .get(
      PATH,
      ...openEndpoint(
        gate,
        {
          id: "verifyWhatsAppWebhook",
          tag: "Callbacks",
          summary: "Meta's handshake",
          description: "Meta calls it once, when the callback URL is set in the App Dashboard (docs/whatsapp.md).",
          security: ["WhatsAppVerifyToken"],
          query: HandshakeQuery,
          success: {
            200: { description: "The token is the right one.", content: { type: "text/plain", schema: Challenge } },
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
          await messaging
            .verifyWhatsAppWebhook({ carrierId, verifyToken }, { origin: { requestId } })
            .catch((error) => countWrong(gate, address, error));
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
          summary: "What WhatsApp tells of messages",
          description:
            "Answered as soon as messages and statuses are durable. A callback may come twice: each message is taken once.",
          security: ["WhatsAppSignature"],
          body: { type: "application/json", schema: WhatsAppCallback },
          success: { 200: { description: "Taken." } },
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
        async ({ request, requestId, params, address }) => {
          const carrierId = params.connection_id ?? "";
          const hold = await shares.hold(address, FIRST_BYTES, request.signal);
          const keep = (bytes: number) => {
            if (bytes <= hold.bytes || hold.grow(bytes - hold.bytes)) return;
            throw new ServiceError("rate_limited", "Too many callbacks are under way, try again", RETRY);
          };
          try {
            const limits = { bytesMax: BODY_BYTES_MAX, withinMs: WITHIN_MS, keep };
            const body = Buffer.from(await readRaw(request, limits));
            const signature = request.headers.get("x-hub-signature-256") ?? "";
            // Not cancelled with the request: what is under way may as well become durable.
            await messaging
              .handleWhatsAppCallback({ carrierId, body, signature }, { origin: { requestId } })
              .catch((error) => countWrong(gate, address, error));
            return new Response(null, { status: 200 });
          } finally {
            hold.release();
          }
        },
      ),
    );
}

/** Limits guesses of ids, tokens and signatures, and no callback of Meta's. */
async function countWrong(gate: GateContext, address: string, error: unknown): Promise<never> {
  if (error instanceof ServiceError && (error.kind === "forbidden" || error.kind === "not_found")) {
    const decision = await gate.addressLimiter.take(`wrong-callback:${address}`, WRONG_PER_MINUTE);
    refuseOverRate(decision, "Too many wrong callbacks came from this address, wait a minute");
  }
  throw error;
}
