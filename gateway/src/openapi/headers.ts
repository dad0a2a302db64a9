import type { Json } from "./schema.ts";

const header = (description: string, schema: Json) => ({ description, schema });

/** Headers of responses. */
export const HEADERS = {
  "X-Request-ID": header("Names the request in the logs: the client's own ID if it sent one.", { type: "string" }),
  "X-RateLimit-Limit": header("Requests per minute of the key, or of the session.", { type: "integer" }),
  "X-RateLimit-Remaining": header("Requests left in the sliding minute.", { type: "integer" }),
  "X-RateLimit-Reset": header("Unix second at which the full limit is available again.", { type: "integer" }),
  "Idempotent-Replayed": header(
    "`true` when this is the stored response to an earlier request with the same Idempotency-Key.",
    {
      type: "string",
      enum: ["true"],
    },
  ),
  "X-Session-ID": header("The chat session, once there is one.", { type: "string", format: "uuid" }),
  Location: header("Where the call is ended with DELETE.", { type: "string", format: "uri-reference" }),
  "Set-Cookie": header("The session's cookie; with `Max-Age=0`, its removal.", { type: "string" }),
  "Retry-After": header("Seconds to wait.", { type: "integer", minimum: 1 }),
};

export function headerReferences(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
