import { ServiceError } from "@parley/shared/errors";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { observeHeldBytes } from "@parley/shared/telemetry/held-bytes";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import { type GateContext, jsonAnswer } from "../gate.ts";
import { readRaw } from "../http/body.ts";
import { observed } from "../http/observe.ts";
import { commonHeaders, requestIdOf } from "../http/request-id.ts";
import { problemOf } from "../problem.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";

const PATH = "/v1/carriers/whatsapp/:carrier_id";

const MIB = 1024 * 1024;
/** What Meta sends at most (developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/create-webhook-endpoint). */
const BODY_BYTES_MAX = 3 * MIB;
/** Bodies whose signature is not verified yet, by connection: whoever knows one's id fills no other's share. */
const UNVERIFIED = { what: "callbacks", totalBytes: 48 * MIB, ownerBytes: 6 * MIB, waitingMax: 100, waitMs: 5_000 };
/** Meta calls from many addresses, and each may serve many owners. */
const CALLBACKS_PER_MINUTE = 6_000;
/** Callbacks of one address with a wrong id, token or signature, and handshakes. */
const WRONG_PER_MINUTE = 60;
const CHALLENGE = /^[\w-]{1,200}$/;

/** Where WhatsApp tells of messages and statuses. Nobody is authenticated: the signature over the body counts. */
export function whatsAppCallbackRoutes(gate: GateContext, { messaging }: Clients) {
  const shares = byteShares(UNVERIFIED);
  observeHeldBytes("callbacks", () => shares.heldBytes());

  async function respond(request: Request, work: (requestId: string) => Promise<Response>): Promise<Response> {
    const requestId = requestIdOf(request);
    try {
      const address = gate.addressOf(request);
      refuseOverRate(
        await gate.addressLimiter.take(`callback:${address}`, CALLBACKS_PER_MINUTE),
        "Too many callbacks came from this address, wait a minute",
      );
      const response = await work(requestId).catch((error) => countWrong(gate, address, error));
      for (const [name, value] of Object.entries(commonHeaders(requestId))) response.headers.set(name, value);
      return response;
    } catch (error) {
      const { status, body, headers } = problemOf(error, requestId);
      return jsonAnswer(status, body, new Headers({ ...headers, ...commonHeaders(requestId) }));
    }
  }

  return new Elysia()
    .get(PATH, ({ request, params }) =>
      observed("verifyWhatsAppWebhook", request, () =>
        respond(request, async (requestId) => {
          const query = new URL(request.url).searchParams;
          const verifyToken = query.get("hub.verify_token") ?? "";
          const challenge = query.get("hub.challenge") ?? "";
          if (query.get("hub.mode") !== "subscribe" || !CHALLENGE.test(challenge))
            throw new ServiceError("condition", "hub.mode must be subscribe, and hub.challenge letters and digits");
          await messaging.verifyWhatsAppWebhook(
            { carrierId: params.carrier_id, verifyToken },
            { origin: { requestId } },
          );
          return new Response(challenge, { headers: PLAIN });
        }),
      ),
    )
    .post(
      PATH,
      ({ request, params: { carrier_id: carrierId } }) =>
        observed("handleWhatsAppCallback", request, () =>
          respond(request, async (requestId) => {
            const bytes = Number(request.headers.get("content-length") ?? BODY_BYTES_MAX);
            const hold = await shares.hold(carrierId, Math.min(bytes, BODY_BYTES_MAX), request.signal);
            try {
              const body = Buffer.from(await readRaw(request, BODY_BYTES_MAX));
              const signature = request.headers.get("x-hub-signature-256") ?? "";
              // Not cancelled with the request: what is under way may as well become durable.
              await messaging.handleWhatsAppCallback({ carrierId, body, signature }, { origin: { requestId } });
              return new Response(null, { status: 200 });
            } finally {
              hold.release();
            }
          }),
        ),
      { parse: "none" },
    );
}

const PLAIN = { "Content-Type": "text/plain; charset=utf-8", "X-Content-Type-Options": "nosniff" };

/** Limits guesses of ids, tokens and signatures, and no callback of Meta's. */
async function countWrong(gate: GateContext, address: string, error: unknown): Promise<never> {
  if (error instanceof ServiceError && (error.kind === "forbidden" || error.kind === "not_found")) {
    const decision = await gate.addressLimiter.take(`wrong-callback:${address}`, WRONG_PER_MINUTE);
    refuseOverRate(decision, "Too many wrong callbacks came from this address, wait a minute");
  }
  throw error;
}
