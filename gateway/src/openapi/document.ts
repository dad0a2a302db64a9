import type { Access } from "../auth/identify.ts";
import { SESSION_COOKIES } from "../auth/session-cookie.ts";
import { Problem } from "../schemas/resources.ts";
import { type Example, mediaExample } from "./examples/example.ts";
import { EXAMPLES } from "./examples/operations.ts";
import { HEADERS, headerReferences } from "./headers.ts";
import { describeOpen, OPEN_SECURITY_SCHEMES, type OpenOperation } from "./open-operation.ts";
import { type Operation, takesKey } from "./operation.ts";
import { IDEMPOTENCY_KEY, pathParameters, queryParameters, RANGE, REQUEST_ID, requestHeader } from "./parameters.ts";
import { problemsOf, RATE_HEADERS } from "./problems.ts";
import { type Components, type Json, shown } from "./schema.ts";
import { webhooks } from "./webhooks.ts";

interface Route {
  method: string;
  /** In Elysia's form, with `:name` for parameters. */
  path: string;
  operation: Described;
}

/** The description that a route is created with. */
export type Described = Operation | OpenOperation;

const TAGS = {
  Agents: "AI agents and the variables they expect.",
  Tests: "Tests of agents, their runs against versions, and replays of stored conversations.",
  Prompts: "Versioned prompts.",
  Tools: "What agents' models can call: your servers, and your pages and apps.",
  Knowledge: "Documents that agents answer from.",
  Chat: "Text conversations with agents.",
  Conversations: "Stored conversations from every channel.",
  Calls: "Voice calls with agents.",
  Catalogue: "What agents can use: providers, models, voices, and phone numbers.",
  Callbacks:
    "Requests that carriers send to Parley, each authenticated by the carrier's signature. No other client needs them.",
  Management:
    "What a signed-in owner manages: API keys, secrets, webhook destinations and deliveries, phone numbers, cloned voices, settings, and usage. A browser may write only from a page of the same origin.",
} as const;

/** Builds the OpenAPI 3.1 document of some routes from the schemas that validate them. */
export function openApiDocument(routes: readonly Route[]): Json {
  const components: Components = {};
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
    security: [{ ApiKey: [] }, ...SESSION],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooks(components),
    components: {
      securitySchemes: { ...SECURITY_SCHEMES, ...OPEN_SECURITY_SCHEMES },
      headers: HEADERS,
      schemas: components,
    },
  };
}

const cookie = (name: string, description: string) => ({ type: "apiKey", in: "cookie", name, description });
const SECURITY_SCHEMES = {
  ApiKey: { type: "apiKey", in: "header", name: "X-API-Key", description: "Begins with `vk_`." },
  Session: cookie(SESSION_COOKIES.secure, "Set by signing in over TLS."),
  SessionOnLoopback: cookie(SESSION_COOKIES.onLoopback, "The same on a loopback address without TLS."),
};
const SESSION = [{ Session: [] }, { SessionOnLoopback: [] }];
const SECURITY: Partial<Record<Access, Json[]>> = {
  anyone: [],
  session: SESSION,
};

function describe(method: string, path: string, operation: Described, components: Components): Json {
  const example = EXAMPLES[operation.id];
  if (!example) throw new Error(`The operation ${operation.id} has no example in openapi/examples`);
  if (!("scope" in operation)) return describeOpen(path, operation, example, components);
  const { id, tag, summary, description, body, query, scope } = operation;
  const isKeyed = takesKey(method, scope);
  const security = SECURITY[scope];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, needed(scope)].filter(Boolean).join("\n\n"),
    ...(security && { security }),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(query, components),
      ...(isKeyed ? [IDEMPOTENCY_KEY] : []),
      ...(operation.file?.ranges ? [RANGE] : []),
      ...(operation.headers ?? []).map(requestHeader),
      REQUEST_ID,
    ],
    ...(body && {
      requestBody: {
        required: !operation.isBodyOptional,
        content: {
          "application/json": { schema: shown(body, components), ...mediaExample(example) },
          ...(operation.form && formContent(operation.form, example, components)),
        },
      },
    }),
    responses: {
      200: success(operation, example, isKeyed, components),
      ...(operation.file?.ranges && {
        206: { ...success(operation, example, isKeyed, components), description: "The requested range." },
      }),
      ...(operation.empty && {
        204: { description: operation.empty, headers: headerReferences(["X-Request-ID", ...RATE_HEADERS]) },
      }),
      ...problemsOf(operation, { path, isKeyed, isWrite: method !== "GET" }),
    },
  };
}

function formContent(
  { fields, file }: NonNullable<Operation["form"]>,
  { form }: Example,
  components: Components,
): Json {
  const { properties, ...rest } = shown(fields, components);
  const part = { type: "string", format: "binary", description: file };
  const schema = { ...rest, required: ["file"], properties: { file: part, ...(properties as Json) } };
  return { "multipart/form-data": { schema, example: form } };
}

function needed(scope: Access): string {
  if (scope === "anyone") return "";
  return scope === "session" ? "Needs a session." : `Needs a key with the scope \`${scope}\`, or a session.`;
}

function streamedForms(forms: Readonly<Record<string, string>>, { text, events }: Example): Json {
  const media = Object.entries(forms).map(([type, description]) => {
    const example = type === "text/event-stream" ? events : text;
    return [type, { schema: { type: "string", description }, example }];
  });
  return Object.fromEntries(media);
}

function success(operation: Operation, example: Example, isKeyed: boolean, components: Components): Json {
  const { response, file, streamed, namesChat, scope, setsCookie } = operation;
  const headers = [
    "X-Request-ID",
    ...(scope === "anyone" ? [] : RATE_HEADERS),
    ...(isKeyed ? ["Idempotent-Replayed"] : []),
    ...(namesChat ? ["X-Session-ID"] : []),
    ...(setsCookie ? ["Set-Cookie"] : []),
  ];
  return {
    description: streamed ? streamed.choice : "Success.",
    headers: headerReferences(headers),
    content: {
      ...(streamed && streamedForms(streamed.forms, example)),
      ...(file && {
        [file.type]: {
          schema: { type: "string", format: "binary", description: file.description },
          example: example.text,
        },
      }),
      ...(response && { "application/json": { schema: shown(response, components), example: example.response } }),
    },
  };
}
