import { STARTING_MS } from "@parley/shared/domain/start-webhook";
import { ServiceError } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { readText } from "../../http/body.ts";
import { Sdp } from "../../schemas/callbacks.ts";
import { openEndpoint } from "../open-endpoint.ts";
import { WEB_CALLS } from "./web-calls.ts";

const OFFER_BYTES_MAX = 16 * 1024;
export const SDP = "application/sdp";
const IS_SDP = /^application\/sdp\s*(;|$)/i;

/** Any page may use a token that it was given, so that the widget works on customers' sites. */
export const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Location" };
export const PREFLIGHT = {
  ...CORS,
  "Access-Control-Allow-Methods": "POST, DELETE, OPTIONS",
  "Access-Control-Allow-Headers": "Authorization, Content-Type",
  "Access-Control-Max-Age": "86400",
};
const RULES = {
  perAddress: {
    name: "whip",
    /** Limit for one address, which an office may share. */
    perMinute: 120,
    refusal: "Too many web calls from this address. Wait a minute.",
  },
  headers: CORS,
};

/** How browsers connect and end web calls: WHIP (RFC 9725), with the web call's token instead of a key. */
export function whipRoutes(gate: GateContext, { voices }: Clients) {
  return new Elysia()
    .options(`${WEB_CALLS}/:conversation_id`, () => new Response(null, { status: 204, headers: PREFLIGHT }))
    .post(
      `${WEB_CALLS}/:conversation_id`,
      ...openEndpoint(
        gate,
        {
          id: "connectWebCall",
          tag: "Calls",
          summary: "Connect a browser to its web call",
          description:
            "WHIP (RFC 9725). Browsers call it at the `url` of the web call, with its token (docs/calls.md).",
          security: ["WebCallToken"],
          body: { type: SDP, schema: Sdp },
          success: {
            201: {
              description: "The call has begun.",
              headers: ["Location"],
              content: { type: SDP, schema: Sdp },
            },
          },
          refuses: {
            ...OF_TOKEN,
            400: "The agent has no speech-to-text: set its stt",
            404: "Agent not found",
            408: "The request body must arrive within 10 seconds",
            413: "The request body must be at most 16 KiB",
            415: "The request body must be sent with Content-Type: application/sdp",
            422: "The SDP offer cannot be answered: it has no audio",
            504: "The voice service did not answer in time",
          },
        },
        RULES,
        async ({ request, requestId, params }) => {
          const token = bearerOf(request);
          const conversationId = params.conversation_id ?? "";
          const origin = { requestId, signal: request.signal };
          return answerOffer(request, `${WEB_CALLS}/${conversationId}`, (offer) =>
            voices.connectWebCall({ conversationId, token, offer }, { origin, timeoutMs: STARTING_MS }),
          );
        },
      ),
    )
    .delete(
      `${WEB_CALLS}/:conversation_id`,
      ...openEndpoint(
        gate,
        {
          id: "endWebCall",
          tag: "Calls",
          summary: "Hang up a web call",
          description: "WHIP. Closing the connection has the same effect. Safe to repeat.",
          security: ["WebCallToken"],
          success: { 200: { description: "The call ends." } },
          refuses: OF_TOKEN,
        },
        RULES,
        async ({ request, requestId, params }) => {
          const conversationId = params.conversation_id ?? "";
          await voices.endWebCall({ conversationId, token: bearerOf(request) }, { origin: { requestId } });
          return new Response(null, { status: 200 });
        },
      ),
    );
}

const OF_TOKEN = {
  401: "The token is wrong, has expired or was used: make another web call",
  429: RULES.perAddress.refusal,
};

/**
 * Answers a browser's SDP offer.
 * @param location where the browser ends what it begins
 * @throws ServiceError for a body that is none or has more than 16 KiB, and whatever `connect` throws
 */
export async function answerOffer(
  request: Request,
  location: string,
  connect: (offer: string) => Promise<{ answer: string }>,
): Promise<Response> {
  const { answer } = await connect(await readText(request, IS_SDP, SDP, OFFER_BYTES_MAX));
  return new Response(answer, { status: 201, headers: { "Content-Type": SDP, Location: location } });
}

/** @param whose the token is, for the refusal @throws ServiceError unauthenticated */
export function bearerOf(request: Request, whose = "web call's"): string {
  const [, token] = /^Bearer +([A-Za-z0-9\-._~+/]{1,200}=*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined)
    throw new ServiceError("unauthenticated", `The ${whose} token is missing: send it as Authorization: Bearer`);
  return token;
}
