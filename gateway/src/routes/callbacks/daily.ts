import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { HttpError } from "../../problem.ts";
import { DailyWebhook } from "../../schemas/callbacks.ts";
import { openEndpoint } from "../open-endpoint.ts";
import { unverifiedBodies } from "./unverified.ts";

const KIB = 1024;
const BODIES = {
  what: "webhooks",
  name: "daily_webhooks",
  // Daily's events about rooms have about 1 KiB.
  bytesMax: 64 * KIB,
  firstBytes: 4 * KIB,
  addressBytes: 1_024 * KIB,
  totalBytes: 8_192 * KIB,
  unknownMax: 256,
};
/** Limit for one address: Daily sends the events of all owners from a few addresses. */
const RULES = {
  perAddress: {
    name: "daily",
    perMinute: 6_000,
    refusal: "Too many webhooks from this address. Wait a minute.",
  },
};
const DOMAIN = /^(car_[0-9a-z]{26}|operator)$/;

/** Where Daily sends the events of its rooms. Nobody is authenticated: the voice service checks the signature over the body. */
export function dailyWebhookRoutes(gate: GateContext, { voices }: Clients) {
  const receive = unverifiedBodies(gate, BODIES);
  return new Elysia().post(
    "/v1/carriers/daily/:domain_id",
    ...openEndpoint(
      gate,
      {
        id: "handleDailyWebhook",
        tag: "Callbacks",
        summary: "Receive Daily's events of a room",
        description:
          "Daily's events `participant.joined`, `participant.left`, `meeting.ended` and `dialin.ready`. They may arrive late, more than once, and out of order. Events of rooms that are not Parley's are accepted and ignored, because Daily stops sending events to an address that refuses them.",
        security: ["DailySignature"],
        headers: ["X-Webhook-Timestamp"],
        body: { type: "application/json", schema: DailyWebhook },
        success: { 200: { description: "Accepted." } },
        refuses: {
          403: "Daily's signature is wrong",
          404: "Connection not found",
          408: "The request body must arrive within 10 seconds",
          413: "The request body must be at most 64 KiB",
          415: "The request body must be sent without Content-Encoding",
          422: "The body must be one of Daily's events",
          429: RULES.perAddress.refusal,
        },
      },
      RULES,
      async (open) => {
        const connection = open.params.domain_id ?? "";
        if (!DOMAIN.test(connection)) throw new HttpError(404, "Connection not found");
        const signature = open.request.headers.get("x-webhook-signature") ?? "";
        const timestamp = open.request.headers.get("x-webhook-timestamp") ?? "";
        // Not cancelled with the request: what is in progress may as well become durable.
        const origin = { requestId: open.requestId };
        await receive(open, {
          id: connection,
          check: (asked) => voices.checkCallbackId({ provider: "daily", id: connection }, { origin: asked }),
          pass: (body) => voices.handleDailyWebhook({ connection, body, signature, timestamp }, { origin }),
        });
        // Daily accepts no other answer.
        return new Response(null, { status: 200 });
      },
    ),
  );
}
