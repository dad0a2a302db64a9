import { ServiceError } from "@parley/shared/errors";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { readRaw } from "../http/body.ts";
import { HttpError } from "../problem.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";
import { DailyWebhook } from "../schemas/callbacks.ts";
import { openEndpoint } from "./open-endpoint.ts";

const KIB = 1024;
/** Daily's events of rooms have about 1 KiB. */
const BODY_BYTES_MAX = 64 * KIB;
/** What a body holds at first. */
const FIRST_BYTES = 4 * KIB;
const WITHIN_MS = 10_000;
const RETRY = { retryAfterMs: 1_000 };
/** Bodies whose signature is not verified yet, by client address. */
const UNVERIFIED = {
  what: "webhooks",
  totalBytes: 8_192 * KIB,
  ownerBytes: 1_024 * KIB,
  waitingMax: 100,
  waitMs: 5_000,
};
/** Daily calls from a few addresses for all owners. */
const RULES = {
  perAddress: {
    name: "daily",
    perMinute: 6_000,
    refusal: "Too many webhooks came from this address, wait a minute",
  },
};
/** Webhooks of one address with a wrong domain or signature. */
const WRONG_PER_MINUTE = 60;
const DOMAIN = /^(car_[0-9a-z]{26}|operator)$/;

/** Where Daily tells of its rooms. Nobody is authenticated: the voice service checks the signature over the body. */
export function dailyWebhookRoutes(gate: GateContext, { voices }: Clients) {
  const shares = byteShares(UNVERIFIED);
  observeHeldBytes("daily_webhooks", () => shares.heldBytes());
  return new Elysia().post(
    "/v1/carriers/daily/:domain_id",
    ...openEndpoint(
      gate,
      {
        id: "handleDailyWebhook",
        tag: "Callbacks",
        summary: "What Daily tells of a room",
        description:
          "Daily's events `participant.joined`, `participant.left`, `meeting.ended` and `dialin.ready`. They may come late, twice and out of order. Events of rooms that are not Parley's are taken and ignored, because Daily gives up on an address that refuses.",
        security: ["DailySignature"],
        headers: ["X-Webhook-Timestamp"],
        body: { type: "application/json", schema: DailyWebhook },
        success: { 200: { description: "Taken." } },
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
      async ({ request, requestId, params, address }) => {
        const connection = params.domain_id ?? "";
        if (!DOMAIN.test(connection)) throw new HttpError(404, "Connection not found");
        const hold = await shares.hold(address, FIRST_BYTES, request.signal);
        const keep = (bytes: number) => {
          if (bytes <= hold.bytes || hold.grow(bytes - hold.bytes)) return;
          throw new ServiceError("rate_limited", "Too many webhooks are under way, try again", RETRY);
        };
        try {
          const limits = { bytesMax: BODY_BYTES_MAX, withinMs: WITHIN_MS, keep };
          const body = Buffer.from(await readRaw(request, limits));
          const signature = request.headers.get("x-webhook-signature") ?? "";
          const timestamp = request.headers.get("x-webhook-timestamp") ?? "";
          // Not cancelled with the request: what is under way may as well become durable.
          await voices
            .handleDailyWebhook({ connection, body, signature, timestamp }, { origin: { requestId } })
            .catch((error) => countWrong(gate, address, error));
          // Daily takes nothing else for an answer.
          return new Response(null, { status: 200 });
        } finally {
          hold.release();
        }
      },
    ),
  );
}

/** Limits guesses of domains and signatures, and no webhook of Daily's. */
async function countWrong(gate: GateContext, address: string, error: unknown): Promise<never> {
  if (error instanceof ServiceError && (error.kind === "forbidden" || error.kind === "not_found")) {
    const decision = await gate.addressLimiter.take(`wrong-daily:${address}`, WRONG_PER_MINUTE);
    refuseOverRate(decision, "Too many wrong webhooks came from this address, wait a minute");
  }
  throw error;
}
