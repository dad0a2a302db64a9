import { ServiceError } from "@parley/shared/errors";
import { Elysia } from "elysia";
import type { GateContext } from "../../gate.ts";
import { readText } from "../../http/body.ts";
import type { OpenOperation } from "../../openapi/open-operation.ts";
import { Sdp } from "../../schemas/callbacks.ts";
import { openEndpoint } from "../open-endpoint.ts";

const OFFER_BYTES_MAX = 16 * 1024;
const SDP = "application/sdp";
const IS_SDP = /^application\/sdp\s*(;|$)/i;
/** Limit for one address, which an office may share. */
const PER_MINUTE = 120;

/** Any page may use a token that it was given, so that the widget works on customers' sites. */
const CORS = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Location" };
const PREFLIGHT = {
  ...CORS,
  "Access-Control-Allow-Methods": "POST, DELETE, OPTIONS",
  "Access-Control-Allow-Headers": "Authorization, Content-Type",
  "Access-Control-Max-Age": "86400",
};

interface Stream {
  conversationId: string;
  token: string;
}

interface Described extends Pick<OpenOperation, "id" | "summary" | "description"> {
  /** What the success means. */
  success: string;
}

interface Streams extends Pick<OpenOperation, "tag" | "security"> {
  path: string;
  /** The name of the limit for one address, and what it says over it. */
  limit: { name: string; refusal: string };
  /** Whose the token is, and what is wrong with one that is not taken. */
  token: { whose: string; refusal: string };
  connecting: Described & {
    /** Besides the refusals of the token, of the body, and of an offer without audio. */
    refuses: OpenOperation["refuses"];
    connect: (
      stream: Stream & { offer: string },
      origin: { requestId: string; signal: AbortSignal },
    ) => Promise<{ answer: string }>;
  };
  ending: Described & { end: (stream: Stream, origin: { requestId: string }) => Promise<unknown> };
}

/** How browsers connect the sound of a call and end that, as WHIP (RFC 9725) and WHEP have it, with a token instead of a key. */
export function streamRoutes(gate: GateContext, { path, limit, token, connecting, ending, ...shared }: Streams) {
  const rules = { perAddress: { ...limit, perMinute: PER_MINUTE }, headers: CORS };
  const ofToken = { 401: token.refusal, 429: limit.refusal };
  const { connect, ...connected } = connecting;
  const { end, ...ended } = ending;
  return new Elysia({ prefix: path })
    .options("/:conversation_id", () => new Response(null, { status: 204, headers: PREFLIGHT }))
    .post(
      "/:conversation_id",
      ...openEndpoint(
        gate,
        {
          ...shared,
          ...connected,
          body: { type: SDP, schema: Sdp },
          success: {
            201: { description: connected.success, headers: ["Location"], content: { type: SDP, schema: Sdp } },
          },
          refuses: {
            ...ofToken,
            ...connected.refuses,
            408: "The request body must arrive within 10 seconds",
            413: "The request body must be at most 16 KiB",
            415: "The request body must be sent with Content-Type: application/sdp",
            422: "The SDP offer cannot be answered: it has no audio",
            504: "The voice service did not answer in time",
          },
        },
        rules,
        async ({ request, requestId, params }) => {
          const stream = { conversationId: params.conversation_id ?? "", token: bearerOf(request, token.whose) };
          const offer = await readText(request, IS_SDP, SDP, OFFER_BYTES_MAX);
          const { answer } = await connect({ ...stream, offer }, { requestId, signal: request.signal });
          const headers = { "Content-Type": SDP, Location: `${path}/${stream.conversationId}` };
          return new Response(answer, { status: 201, headers });
        },
      ),
    )
    .delete(
      "/:conversation_id",
      ...openEndpoint(
        gate,
        { ...shared, ...ended, success: { 200: { description: ended.success } }, refuses: ofToken },
        rules,
        async ({ request, requestId, params }) => {
          const conversationId = params.conversation_id ?? "";
          await end({ conversationId, token: bearerOf(request, token.whose) }, { requestId });
          return new Response(null, { status: 200 });
        },
      ),
    );
}

/** @throws ServiceError unauthenticated */
function bearerOf(request: Request, whose: string): string {
  const [, token] = /^Bearer +([A-Za-z0-9\-._~+/]{1,200}=*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  if (token === undefined)
    throw new ServiceError("unauthenticated", `The ${whose} token is missing: send it as Authorization: Bearer`);
  return token;
}
