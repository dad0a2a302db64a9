import type { TObject, TSchema } from "@sinclair/typebox";
import {
  AGENT_ID,
  DELIVERY_ID,
  DESTINATION_ID,
  KEY_ID,
  NUMBER,
  PROMPT_NAME,
  SESSION_ID,
  VOICE_ID,
} from "./examples/values.ts";
import { type Components, type Json, shown } from "./schema.ts";

const PROVIDER = "OPENAI";

/** Every name that a path has in braces. */
const PATH_PARAMETERS: Readonly<Record<string, { description: string; example: string }>> = {
  agent_id: { description: "ID of the agent.", example: AGENT_ID },
  prompt_name: { description: "Name of the prompt.", example: PROMPT_NAME },
  session_id: { description: "ID of the chat session.", example: SESSION_ID },
  conversation_id: { description: "ID of the conversation.", example: SESSION_ID },
  key_id: { description: "ID of the API key.", example: KEY_ID },
  destination_id: { description: "ID of the webhook destination.", example: DESTINATION_ID },
  delivery_id: { description: "ID of the delivery.", example: DELIVERY_ID },
  mobile_number: { description: "The phone number in E.164 form.", example: NUMBER },
  provider: { description: "Provider of the voice.", example: PROVIDER },
  voice_id: { description: "The provider's ID of the voice.", example: VOICE_ID },
};

/** @throws for a name without a description */
export function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => {
    const known = PATH_PARAMETERS[name];
    if (!known) throw new Error(`The path parameter ${name} has no description in openapi/parameters.ts`);
    return { name, in: "path", required: true, ...known, schema: { type: "string" } };
  });
}

export function queryParameters(query: TObject | undefined, components: Components): Json[] {
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => {
    const required = query?.required?.includes(name) ?? false;
    const { description, ...rest } = shown(schema, components);
    return {
      name,
      in: "query",
      required,
      description,
      // A filter with an example is one that the page at /docs sends unless the reader removes it.
      ...(required && { example: PATH_PARAMETERS[name]?.example }),
      schema: rest,
    };
  });
}

export const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A repetition with the same key and request within 24 hours gets the first answer.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};
export const REQUEST_ID = {
  name: "X-Request-ID",
  in: "header",
  required: false,
  description: "Names the request in the logs. The answer has it too.",
  schema: { type: "string", pattern: "^[A-Za-z0-9._:-]{1,128}$" },
};
