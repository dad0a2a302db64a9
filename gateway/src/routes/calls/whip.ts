import { ServiceError } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import { type GateContext, jsonAnswer } from "../../gate.ts";
import { readText } from "../../http/body.ts";
import { observed } from "../../http/observe.ts";
import { commonHeaders, requestIdOf } from "../../http/request-id.ts";
import { problemOf } from "../../problem.ts";
import { refuseOverRate } from "../../rate-limit/refuse.ts";
import { WEB_CALLS } from "./web-calls.ts";

const OFFER_BYTES_MAX = 64 * 1024;
/** From one address: offices share one. */
const REQUESTS_PER_MINUTE = 120;
const SDP = /^application\/sdp\s*(;|$)/i;

/** Any page may use a token that it was given, so that the widget works on customers' sites. */
const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Location" };
const PREFLIGHT = {
  ...CORS,
  "Access-Control-Allow-Methods": "POST, DELETE, OPTIONS",
  "Access-Control-Allow-Headers": "Authorization, Content-Type",
  "Access-Control-Max-Age": "86400",
};

/** How browsers connect and end web calls: WHIP (RFC 9725), with the web call's token instead of a key. */
export function whipRoutes(gate: GateContext, { voices }: Clients) {
  return new Elysia()
    .options(`${WEB_CALLS}/:conversation_id`, () => new Response(null, { status: 204, headers: PREFLIGHT }))
    .post(
      `${WEB_CALLS}/:conversation_id`,
      answered(gate, "connectWebCall", async ({ request, conversationId, token, requestId }) => {
        const offer = await readText(request, SDP, "application/sdp", OFFER_BYTES_MAX);
        const origin = { requestId, signal: request.signal };
        const { answer } = await voices.connectWebCall({ conversationId, token, offer }, { origin });
        return new Response(answer, {
          status: 201,
          headers: { "Content-Type": "application/sdp", Location: `${WEB_CALLS}/${conversationId}` },
        });
      }),
      { parse: "none" },
    )
    .delete(
      `${WEB_CALLS}/:conversation_id`,
      answered(gate, "endWebCall", async ({ conversationId, token, requestId }) => {
        await voices.endWebCall({ conversationId, token }, { origin: { requestId } });
        return new Response(null, { status: 200 });
      }),
      { parse: "none" },
    );
}

interface WhipRequest {
  request: Request;
  requestId: string;
  conversationId: string;
  token: string;
}

/** Counts the request by its address, reads its token and turns errors into problems. */
function answered(gate: GateContext, operation: string, work: (whip: WhipRequest) => Promise<Response>) {
  const respond = async (request: Request, conversationId: string): Promise<Response> => {
    const requestId = requestIdOf(request);
    try {
      const decision = await gate.addressLimiter.take(`whip:${gate.addressOf(request)}`, REQUESTS_PER_MINUTE);
      refuseOverRate(decision, "Too many web calls came from this address, wait a minute");
      const token = bearerOf(request);
      const response = await work({ request, requestId, conversationId, token });
      return withHeaders(response, { ...commonHeaders(requestId), ...CORS });
    } catch (error) {
      const { status, body, headers } = problemOf(error, requestId);
      return jsonAnswer(status, body, new Headers({ ...headers, ...commonHeaders(requestId), ...CORS }));
    }
  };
  return ({ request, params }: { request: Request; params: { conversation_id: string } }) =>
    observed(operation, request, () => respond(request, params.conversation_id));
}

/** @throws ServiceError unauthenticated */
function bearerOf(request: Request): string {
  const [, token] = /^Bearer +([A-Za-z0-9\-._~+/]{1,200}=*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined)
    throw new ServiceError("unauthenticated", "The web call's token is missing: send it as Authorization: Bearer");
  return token;
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}
