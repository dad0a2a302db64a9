import type { TObject, TSchema } from "@sinclair/typebox";
import { type Example, mediaExample } from "./examples/example.ts";
import { headerReferences } from "./headers.ts";
import type { Operation } from "./operation.ts";
import { pathParameters, queryParameters, REQUEST_ID, type RequestHeader, requestHeader } from "./parameters.ts";
import { openProblems } from "./problems.ts";
import { type Components, type Json, shown } from "./schema.ts";

/**
 * The requests and responses of a route whose callers have neither a key nor a session: visitors' browsers and carriers. The
 * route's own handler enforces it, and the document describes it.
 */
export interface OpenOperation extends Pick<Operation, "id" | "tag" | "summary"> {
  description: string;
  /** The schemes, one of which the request must meet; none for a route that anyone may call. */
  security: readonly (keyof typeof OPEN_SECURITY_SCHEMES)[];
  /** Headers that the request needs. */
  headers?: readonly RequestHeader[];
  query?: TObject;
  body?: { type: string; schema: TSchema };
  /** The responses by status. */
  success: Readonly<Record<number, Success>>;
  /** The detail of a refusal, by status, beyond those that every such route has. */
  refuses: Readonly<Record<number, string>>;
}

interface Success {
  description: string;
  /** Headers of the response besides X-Request-ID. */
  headers?: readonly string[];
  /** Absent for an answer without a body. */
  content?: { type: string; schema: TSchema };
}

const bearer = (description: string) => ({ type: "http", scheme: "bearer", description });
const inHeader = (name: string, description: string) => ({ type: "apiKey", in: "header", name, description });

export const OPEN_SECURITY_SCHEMES = {
  WidgetToken: bearer("The token of `POST /v1/public/widget-tokens`, on a page of the same origin."),
  ListenerToken: bearer("The token of `POST /v1/public/conversations/{conversation_id}/listen`, for that call only."),
  WebCallToken: bearer("The token of `POST /v1/public/web-calls`, for that call only."),
  WhatsAppVerifyToken: {
    type: "apiKey",
    in: "query",
    name: "hub.verify_token",
    description: "The `verify_token` with which the number was connected.",
  },
  WhatsAppSignature: inHeader(
    "X-Hub-Signature-256",
    "`sha256=` and the hexadecimal HMAC-SHA256 of the body's bytes with the app's secret.",
  ),
  DailySignature: inHeader(
    "X-Webhook-Signature",
    "Base64 of the HMAC-SHA256, with the webhook's secret, of the timestamp, `.` and the body's bytes.",
  ),
  TwilioSignature: inHeader(
    "X-Twilio-Signature",
    "Base64 of the HMAC-SHA1, with the account's auth token, of the public URL and the sorted parameters.",
  ),
  PlivoSignature: inHeader(
    "X-Plivo-Signature-V3",
    "Base64 of the HMAC-SHA256, with the account's auth token, of the public URL, the sorted parameters and the nonce; several are separated by commas.",
  ),
  PlivoMainAccountSignature: inHeader(
    "X-Plivo-Signature-MA-V3",
    "The same with the auth token of the main account, for a call of a subaccount.",
  ),
};

export function describeOpen(path: string, operation: OpenOperation, example: Example, components: Components): Json {
  const { id, tag, summary, description, security, headers = [], query, body, success } = operation;
  const answers = Object.entries(success).map(([status, answer]) => [
    status,
    describeAnswer(answer, example, components),
  ]);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: security.map((scheme) => ({ [scheme]: [] })),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(query, components),
      ...headers.map(requestHeader),
      REQUEST_ID,
    ],
    ...(body && {
      requestBody: {
        required: true,
        content: { [body.type]: { schema: shown(body.schema, components), ...mediaExample(example) } },
      },
    }),
    responses: { ...Object.fromEntries(answers), ...openProblems(operation.refuses) },
  };
}

function describeAnswer(
  { description, headers = [], content }: Success,
  example: Example,
  components: Components,
): Json {
  return {
    description,
    headers: headerReferences(["X-Request-ID", ...headers]),
    ...(content && {
      content: {
        [content.type]: { schema: shown(content.schema, components), example: example.response ?? example.text },
      },
    }),
  };
}
