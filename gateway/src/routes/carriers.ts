import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import { type GateContext, jsonAnswer } from "../gate.ts";
import { readText } from "../http/body.ts";
import { observed } from "../http/observe.ts";
import { commonHeaders, requestIdOf } from "../http/request-id.ts";
import { HttpError, problemOf } from "../problem.ts";
import { refuseOverRate } from "../rate-limit/refuse.ts";

/** A carrier's own callbacks have about 1 KiB. */
const FORM_BYTES_MAX = 16 * 1024;
const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i;
/** From one address: a carrier sends the callbacks of all owners from a few. */
const REQUESTS_PER_MINUTE = 6_000;
const ID = /^(car|call)_[0-9a-z]{26}$/;
/** Holds what a transfer is about, too. */
const EVENT = /^[A-Za-z0-9._-]{1,500}$/;

/** What carriers tell and ask about calls. Anybody can send such a request: the voice service checks the carrier's signature. */
export function carrierCallbackRoutes(gate: GateContext, { voices }: Clients) {
  const respond = async (request: Request, params: Record<string, string>): Promise<Response> => {
    const requestId = requestIdOf(request);
    try {
      const decision = await gate.addressLimiter.take(`carrier:${gate.addressOf(request)}`, REQUESTS_PER_MINUTE);
      refuseOverRate(decision, "Too many callbacks came from this address, wait a minute");
      const { provider = "", id = "", event = "" } = params;
      if (!["twilio", "plivo"].includes(provider) || !ID.test(id) || !EVENT.test(event))
        throw new HttpError(404, "Not found");
      const form = await readText(request, FORM, "application/x-www-form-urlencoded", FORM_BYTES_MAX);
      const callback = { provider, id, event, form, ...signed(request) };
      const origin = { requestId, signal: request.signal };
      const { document } = await voices.handleCarrierCallback(callback, { origin });
      const headers = { ...commonHeaders(requestId), "Cache-Control": "no-store" };
      if (document === "") return new Response(null, { status: 204, headers });
      return new Response(document, { headers: { ...headers, "Content-Type": "text/xml; charset=utf-8" } });
    } catch (error) {
      const { status, body, headers } = problemOf(error, requestId);
      return jsonAnswer(status, body, new Headers({ ...headers, ...commonHeaders(requestId) }));
    }
  };
  return new Elysia().post(
    "/v1/carriers/:provider/:id/:event",
    ({ request, params }) => observed("carrierCallback", request, () => respond(request, params)),
    { parse: "none" },
  );
}

/** Headers that a carrier's signature may be in; Plivo separates several of its own with commas. */
const SIGNATURES = ["x-twilio-signature", "x-plivo-signature-v3", "x-plivo-signature-ma-v3"];

function signed({ headers }: Request): { signatures: string[]; nonce: string } {
  const signatures = SIGNATURES.flatMap((name) => headers.get(name)?.split(",") ?? []).map((text) => text.trim());
  return { signatures: signatures.slice(0, 8), nonce: headers.get("x-plivo-signature-v3-nonce") ?? "" };
}
