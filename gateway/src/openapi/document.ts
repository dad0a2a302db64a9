import type { TObject, TSchema } from "@sinclair/typebox";
import type { Access } from "../auth/identify.ts";
import { Problem } from "../schemas/resources.ts";
import { type Operation, takesKey } from "./operation.ts";
import { problemsOf, RATE_HEADERS } from "./problems.ts";

interface Route {
  method: string;
  /** As Elysia has it, with `:name` for parameters. */
  path: string;
  operation: Operation;
}

type Json = Record<string, unknown>;

const TAGS = {
  Agents: "AI agents and the variables they expect.",
  Prompts: "Versioned prompts.",
  Chat: "Talking to an agent in text.",
  Conversations: "What was said, on every channel.",
  Catalogue: "What can be configured: providers, models, voices, phone numbers.",
  Management:
    "What an owner manages, signed in: API keys, webhook destinations and deliveries, phone numbers, cloned voices, settings, usage. A request that writes must come from a page of this very origin, or from no browser.",
} as const;

/** The OpenAPI 3.1 document of some routes, from the schemas that check them. */
export function openApiDocument(routes: readonly Route[]): Json {
  const components: Record<string, Json> = {};
  const paths: Record<string, Json> = {};
  for (const { method, path, operation } of routes) {
    const name = path.replaceAll(/:(\w+)/g, "{$1}").replace(/(.)\/$/, "$1");
    paths[name] = { ...paths[name], [method.toLowerCase()]: describe(method, name, operation, components) };
  }
  shown(Problem, components);
  return {
    openapi: "3.1.0",
    info: {
      title: "Parley",
      version: "1.0.0",
      description: "Manages AI voice and chat agents: agents, versioned prompts, chat, and stored conversations.",
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: "/", description: "The gateway that serves this document." }],
    security: [{ ApiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        ApiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "Begins with `vk_`." },
        Session: {
          type: "apiKey",
          in: "cookie",
          name: "__Host-parley_session",
          description: "Set by signing in; on a loopback address without TLS it is called `parley_session`.",
        },
      },
      headers: HEADERS,
      schemas: components,
    },
  };
}

function describe(method: string, path: string, operation: Operation, components: Record<string, Json>): Json {
  const { id, tag, summary, description, body, query, scope } = operation;
  const isKeyed = takesKey(method, scope);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, needed(scope)].filter(Boolean).join("\n\n"),
    ...(scope === "session" && { security: [{ Session: [] }] }),
    ...(scope === "anyone" && { security: [] }),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(query, components),
      ...(isKeyed ? [IDEMPOTENCY_KEY] : []),
      REQUEST_ID,
    ],
    ...(body && {
      requestBody: { required: true, content: { "application/json": { schema: shown(body, components) } } },
    }),
    responses: {
      200: success(operation, isKeyed, components),
      ...problemsOf(operation, { isKeyed, isWrite: method !== "GET" }),
    },
  };
}

function needed(scope: Access): string {
  if (scope === "anyone") return "";
  return scope === "session" ? "Needs a session." : `Needs a key with the scope \`${scope}\`.`;
}

function success(operation: Operation, isKeyed: boolean, components: Record<string, Json>): Json {
  const { response, streamed, namesChat, scope, setsCookie } = operation;
  const headers = [
    "X-Request-ID",
    ...(scope === "anyone" ? [] : RATE_HEADERS),
    ...(isKeyed ? ["Idempotent-Replayed"] : []),
    ...(namesChat ? ["X-Session-ID"] : []),
    ...(setsCookie ? ["Set-Cookie"] : []),
  ];
  return {
    description: streamed ? streamed.description : "Success.",
    headers: references(headers),
    content: {
      ...(streamed && { [streamed.type]: { schema: { type: "string" } } }),
      "application/json": { schema: shown(response, components) },
    },
  };
}

function references(headers: readonly string[]): Json {
  return Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(query: TObject | undefined, components: Record<string, Json>): Json[] {
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    required: query?.required?.includes(name) ?? false,
    schema: shown(schema, components),
  }));
}

/** A schema as the document has it: named ones by reference, words of one type as an enum, keywords of our own left out. */
function shown(schema: TSchema, components: Record<string, Json>): Json {
  if (schema.$id === undefined) return plain(schema, components);
  if (!components[schema.$id]) {
    components[schema.$id] = {};
    components[schema.$id] = plain(schema, components);
  }
  return { $ref: `#/components/schemas/${schema.$id}` };
}

const OWN_KEYWORDS = new Set(["$id", "form", "check", "anyOf"]);

function plain(schema: TSchema, components: Record<string, Json>): Json {
  const json: Json = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (OWN_KEYWORDS.has(keyword)) continue;
    json[keyword] = isSchemaHolder(keyword) ? mapSchemas(value, components) : value;
  }
  if (schema.anyOf) Object.assign(json, alternatives(schema.anyOf, components));
  return json;
}

function alternatives(forms: readonly TSchema[], components: Record<string, Json>): Json {
  const words = forms.map((form) => form.const);
  if (words.every((word) => typeof word === "string")) return { type: "string", enum: words };
  return { anyOf: forms.map((form) => shown(form, components)) };
}

function isSchemaHolder(keyword: string): boolean {
  return ["properties", "items", "patternProperties"].includes(keyword);
}

function mapSchemas(value: TSchema | Record<string, TSchema>, components: Record<string, Json>): Json {
  const isOneSchema = "type" in value && typeof value.type === "string";
  if (isOneSchema || "anyOf" in value || "$id" in value) return shown(value as TSchema, components);
  return Object.fromEntries(Object.entries(value).map(([key, schema]) => [key, shown(schema as TSchema, components)]));
}

const header = (description: string, schema: Json) => ({ description, schema });
const HEADERS = {
  "X-Request-ID": header("Names the request in logs; the client's own where it sent one.", { type: "string" }),
  "X-RateLimit-Limit": header("Requests per minute of the key, or of the session.", { type: "integer" }),
  "X-RateLimit-Remaining": header("Requests left in the sliding minute.", { type: "integer" }),
  "X-RateLimit-Reset": header("Unix second at which the full limit is back.", { type: "integer" }),
  "Idempotent-Replayed": header("`true` when an earlier request with the same Idempotency-Key got this answer.", {
    type: "string",
    enum: ["true"],
  }),
  "X-Session-ID": header("The chat session, once there is one.", { type: "string", format: "uuid" }),
  "Set-Cookie": header("The session's cookie, or with `Max-Age=0` its end.", { type: "string" }),
  "Retry-After": header("Seconds to wait.", { type: "integer", minimum: 1 }),
};

const IDEMPOTENCY_KEY = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "A repetition with the same key and request within 24 hours gets the first answer.",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};
const REQUEST_ID = {
  name: "X-Request-ID",
  in: "header",
  required: false,
  description: "Echoed in the answer.",
  schema: { type: "string", pattern: "^[A-Za-z0-9._:-]{1,128}$" },
};
