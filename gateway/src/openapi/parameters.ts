import type { TObject, TSchema } from "@sinclair/typebox";
import {
  AGENT_ID,
  ALERT_ID,
  BATCH_ID,
  CALL_ID,
  CARRIER_ID,
  CHUNK_ID,
  DELIVERY_ID,
  DESTINATION_ID,
  DOCUMENT_ID,
  KEY_ID,
  KNOWLEDGE_BASE_ID,
  NUMBER,
  OWNER_SESSION_ID,
  PROMPT_LABEL,
  PROMPT_NAME,
  REPLAY_ID,
  RUN_ID,
  SECRET_NAME,
  SESSION_ID,
  TEST_ID,
  TOOL_ID,
  TWILIO_CARRIER_ID,
  VOICE_ID,
  WHATSAPP_CARRIER_ID,
} from "./examples/values.ts";
import { type Components, type Json, shown } from "./schema.ts";

const PROVIDER = "OPENAI";

/** The names in braces in a path. */
const PATH_PARAMETERS: Readonly<Record<string, { description: string; example: string }>> = {
  batch_id: { description: "ID of the batch.", example: BATCH_ID },
  call_id: { description: "ID of the call.", example: CALL_ID },
  agent_id: { description: "ID of the agent.", example: AGENT_ID },
  agent_version: { description: "Number of the version.", example: "1" },
  other_version: { description: "Number of the version that it is compared with.", example: "2" },
  prompt_name: { description: "Name of the prompt.", example: PROMPT_NAME },
  label: {
    description: "The label: up to 64 letters of A to Z, digits, hyphens and underscores.",
    example: PROMPT_LABEL,
  },
  knowledge_base_id: { description: "ID of the knowledge base.", example: KNOWLEDGE_BASE_ID },
  chunk_id: { description: "ID of the chunk.", example: CHUNK_ID },
  document_id: { description: "ID of the document.", example: DOCUMENT_ID },
  tool_id: { description: "ID of the tool.", example: TOOL_ID },
  test_id: { description: "ID of the test.", example: TEST_ID },
  run_id: { description: "ID of the run.", example: RUN_ID },
  replay_id: { description: "ID of the replay.", example: REPLAY_ID },
  secret_name: { description: "Name of the secret.", example: SECRET_NAME },
  session_id: { description: "ID of the chat session.", example: SESSION_ID },
  owner_session_id: { description: "ID of the owner's session.", example: OWNER_SESSION_ID },
  conversation_id: { description: "ID of the conversation.", example: SESSION_ID },
  key_id: { description: "ID of the API key.", example: KEY_ID },
  destination_id: { description: "ID of the webhook destination.", example: DESTINATION_ID },
  delivery_id: { description: "ID of the delivery.", example: DELIVERY_ID },
  alert_id: { description: "ID of the alert.", example: ALERT_ID },
  callback_id: {
    description: "ID of the connected carrier for an incoming call, of the call for an outgoing one.",
    example: TWILIO_CARRIER_ID,
  },
  event: {
    description: "Kind of callback, which is part of the address that Parley gave the carrier.",
    example: "voice",
  },
  connection_id: { description: "ID of the connected WhatsApp number.", example: WHATSAPP_CARRIER_ID },
  domain_id: {
    description: "ID of the connected Daily domain, or `operator` for the operator's.",
    example: CARRIER_ID,
  },
  carrier_id: { description: "ID of the connected carrier.", example: CARRIER_ID },
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
      // Not for filters: the page at /docs would send the example unless the reader removes it.
      ...(required && { example: PATH_PARAMETERS[name]?.example ?? schema.examples?.[0] }),
      schema: rest,
    };
  });
}

const REQUEST_HEADERS = {
  "X-Webhook-Timestamp": { description: "When Daily sent it; part of what is signed.", example: "1769851800000" },
  "Last-Event-ID": {
    description:
      "The `id` of the last event that you have. Browsers send it when they connect again. Left out, the stream begins with a snapshot.",
    example: "1796000000123",
    required: false,
  },
  Origin: {
    description:
      "The origin of the page, which browsers send. It must be one of the agent's `widget_config.allowed_origins`.",
    example: "https://shop.example",
  },
  "X-Plivo-Signature-V3-Nonce": { description: "Part of what Plivo signs.", example: "05429567804466091622" },
};

export type RequestHeader = keyof typeof REQUEST_HEADERS;

export function requestHeader(name: RequestHeader): Json {
  return { name, in: "header", required: true, ...REQUEST_HEADERS[name], schema: { type: "string" } };
}

export const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "Repeating the request with the same key within 24 hours returns the first response.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};
export const RANGE = {
  name: "Range",
  in: "header",
  required: false,
  description: "The part of the file to return.",
  schema: { type: "string", pattern: "^bytes=(\\d+-\\d*|-\\d+)$" },
};
export const REQUEST_ID = {
  name: "X-Request-ID",
  in: "header",
  required: false,
  description: "Identifies the request in the logs. The response returns it.",
  schema: { type: "string", pattern: "^[A-Za-z0-9._:-]{1,128}$" },
};
