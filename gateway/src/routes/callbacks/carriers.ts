import { STARTING_MS } from "@parley/shared/domain/start-webhook";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { utf8 } from "../../http/body.ts";
import type { OpenOperation } from "../../openapi/open-operation.ts";
import { HttpError } from "../../problem.ts";
import { Document, PlivoCallback, TwilioCallback } from "../../schemas/callbacks.ts";
import { type OpenRequest, openEndpoint } from "../open-endpoint.ts";
import { unverifiedBodies } from "./unverified.ts";

const KIB = 1024;
const BODIES = {
  what: "callbacks",
  name: "carrier_callbacks",
  // Carriers' callbacks have about 1 KiB.
  bytesMax: 16 * KIB,
  firstBytes: 2 * KIB,
  addressBytes: 1_024 * KIB,
  totalBytes: 8_192 * KIB,
  // Each call has an id of its own, and a batch of calls begins at once.
  unknownMax: 512,
};
const FORM = "application/x-www-form-urlencoded";
const IS_FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;
/** Limit for one address: a carrier sends the callbacks of all owners from a few addresses. */
const RULES = {
  perAddress: {
    name: "carrier",
    perMinute: 6_000,
    refusal: "Too many callbacks from this address. Wait a minute.",
  },
  headers: { "Cache-Control": "no-store" },
};
const ID = /^(car|call)_[0-9a-z]{26}$/;
/** The event that a callback is about, which for a transfer also says where to. */
const EVENT = /^[A-Za-z0-9._-]{1,500}$/;

/** Requests of carriers about calls. Anyone can send such a request, so the voice service verifies the carrier's signature. */
export function carrierCallbackRoutes(gate: GateContext, { voices }: Clients) {
  const receive = unverifiedBodies(gate, BODIES);
  const take = async (provider: "twilio" | "plivo", open: OpenRequest): Promise<Response> => {
    const { request, requestId, params } = open;
    const { callback_id: id = "", event = "" } = params;
    if (!ID.test(id) || !EVENT.test(event)) throw new HttpError(404, "Not found");
    if (!IS_FORM.test(request.headers.get("content-type") ?? ""))
      throw new HttpError(415, `The request body must be sent with Content-Type: ${FORM}`);
    let document = "";
    await receive(open, {
      id: `${provider} ${id}`,
      check: (origin) => voices.checkCallbackId({ provider, id }, { origin }),
      pass: async (body) => {
        const callback = { provider, id, event, form: utf8(body), ...signed(request) };
        const origin = { requestId, signal: request.signal };
        ({ document } = await voices.handleCarrierCallback(callback, { origin, timeoutMs: STARTING_MS }));
      },
    });
    if (document === "") return new Response(null, { status: 204 });
    return new Response(document, { headers: { "Content-Type": "text/xml; charset=utf-8" } });
  };
  return new Elysia()
    .post(
      "/v1/carriers/twilio/:callback_id/:event",
      ...openEndpoint(
        gate,
        {
          ...CALLBACK,
          id: "handleTwilioCallback",
          summary: "Receive Twilio's callbacks about a call",
          security: ["TwilioSignature"],
          body: { type: FORM, schema: TwilioCallback },
        },
        RULES,
        (open) => take("twilio", open),
      ),
    )
    .post(
      "/v1/carriers/plivo/:callback_id/:event",
      ...openEndpoint(
        gate,
        {
          ...CALLBACK,
          id: "handlePlivoCallback",
          summary: "Receive Plivo's callbacks about a call",
          security: ["PlivoSignature", "PlivoMainAccountSignature"],
          headers: ["X-Plivo-Signature-V3-Nonce"],
          body: { type: FORM, schema: PlivoCallback },
        },
        RULES,
        (open) => take("plivo", open),
      ),
    );
}

const CALLBACK = {
  tag: "Callbacks",
  description: "Callbacks may arrive late, more than once, and out of order; each changes the call at most once.",
  success: {
    200: {
      description: "The instructions for the call that the carrier asked for.",
      content: { type: "text/xml", schema: Document },
    },
    204: { description: "Accepted." },
  },
  refuses: {
    400: "The request body is not UTF-8",
    403: "The carrier's signature is wrong",
    404: "Call not found",
    408: "The request body must arrive within 10 seconds",
    413: "The request body must be at most 16 KiB",
    415: "The request body must be sent with Content-Type: application/x-www-form-urlencoded",
    429: RULES.perAddress.refusal,
  },
} as const satisfies Partial<OpenOperation>;

/** Headers that a carrier's signature may be in; Plivo separates several of its own with commas. */
const SIGNATURES = ["x-twilio-signature", "x-plivo-signature-v3", "x-plivo-signature-ma-v3"];

function signed({ headers }: Request): { signatures: string[]; nonce: string } {
  const signatures = SIGNATURES.flatMap((name) => headers.get(name)?.split(",") ?? []).map((text) => text.trim());
  return { signatures: signatures.slice(0, 8), nonce: headers.get("x-plivo-signature-v3-nonce") ?? "" };
}
