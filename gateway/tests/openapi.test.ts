import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import { systemClock } from "@parley/shared/clock";
import { silentLogger } from "@parley/shared/log";
import { EVENT_NAMES } from "@parley/shared/portable/events";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { createAdmission } from "../src/admission.ts";
import { createApp } from "../src/app.ts";
import type { Clients } from "../src/clients.ts";
import type { GateContext } from "../src/gate.ts";
import { createRequestLog } from "../src/http/log-request.ts";
import { eventStreams } from "../src/live/streams.ts";
import { createGuesses } from "../src/rate-limit/guesses.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";

// Only the document is tested: no request reaches a service.
const gate: GateContext = {
  keys: { find: async () => null, close: () => {} },
  accounts: {
    authenticateSession: async () => ({ session: undefined }),
    claimIdempotencyKey: async () => ({}),
  },
  keyLimiter: memoryLimiter(),
  addressLimiter: memoryLimiter(),
  guesses: createGuesses({ limiter: memoryLimiter() }),
  signInLimiter: memoryLimiter(),
  addressOf: () => "127.0.0.1",
  admission: createAdmission(() => ({ known: null, isKeyless: false, address: "192.0.2.1" })),
  logRequest: createRequestLog(silentLogger),
  publicUrl: "",
  holdOpen: () => () => {},
  streams: eventStreams(),
  clock: systemClock,
  log: silentLogger,
};
const app = createApp(gate, { accounts: {} } as Clients, { isDraining: false });

async function fetchDocument(): Promise<string> {
  const answer = await app.handle(new Request("http://gateway/openapi.json"));
  return answer.text();
}

async function lint(source: string) {
  const config = await createConfig({ extends: ["recommended-strict"] });
  return lintFromString({ source, absoluteRef: "openapi.json", config });
}

describe("the OpenAPI document", () => {
  test("passes a strict linter without a warning", async () => {
    const problems = await lint(await fetchDocument());
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test("fails the linter with an operation that has no id", async () => {
    const document = JSON.parse(await fetchDocument());
    const { get } = document.paths["/v1/public/agents"];
    document.paths = { "/v1/public/agents": { get: { ...get, operationId: undefined } } };
    const problems = await lint(JSON.stringify(document));
    expect(problems.map(({ ruleId }) => ruleId)).toContain("operation-operationId");
  });

  test("lists every route of the API, with its possible statuses", async () => {
    const { paths } = JSON.parse(await fetchDocument());
    const operations = Object.entries<Record<string, { operationId: string; responses: object }>>(paths).flatMap(
      ([path, methods]) => Object.entries(methods).map(([method, { responses }]) => ({ path, method, responses })),
    );
    // Browsers send preflight requests by themselves, so the document leaves OPTIONS out.
    const served = app.routes.filter(({ method, path }) => path.startsWith("/v1/") && method !== "OPTIONS");
    expect(operations).toHaveLength(served.length);
    for (const { path, responses } of operations) {
      const refused = path.startsWith("/v1/carriers/") ? "403" : "401";
      expect(Object.keys(responses)).toContain(refused);
    }
  });

  test("has version 1.0.0 and only v1 paths", async () => {
    const { info, paths } = JSON.parse(await fetchDocument());
    expect(info.version).toBe("1.0.0");
    for (const path of Object.keys(paths)) expect(path).toStartWith("/v1/");
  });

  test("shows choices of words as enums and leaves out our own keywords", async () => {
    const text = await fetchDocument();
    const { components, paths } = JSON.parse(text);
    expect(components.schemas.Agent.properties.agent_type).toEqual({
      type: "string",
      enum: ["INBOUND", "OUTBOUND"],
      description: expect.any(String),
    });
    expect(paths["/v1/public/agents"].get.parameters).toContainEqual({
      name: "page_size",
      in: "query",
      required: false,
      description: "Items on a page.",
      schema: { type: "integer", minimum: 1, maximum: 100, default: 10, examples: [10] },
    });
    expect(text).not.toContain('"form"');
    expect(text).not.toContain('"about"');
    expect(text).not.toContain('"$id"');
  });
});

interface Described {
  $ref?: string;
  description?: string;
  properties?: Record<string, Described>;
  items?: Described;
  anyOf?: Described[];
  patternProperties?: Record<string, Described>;
}

/** Where a schema, or a schema within it, has a property without a description. */
function undescribed(schema: Described, schemas: Record<string, Described>, path: string): string[] {
  const inner = [...(schema.anyOf ?? []), ...Object.values(schema.patternProperties ?? {})];
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const target = schemas[property.$ref?.split("/").at(-1) ?? ""];
    const isDescribed = (property.description ?? target?.description ?? "") !== "";
    return [...(isDescribed ? [] : [`${path}.${name}`]), ...undescribed(property, schemas, `${path}.${name}`)];
  });
  return [
    ...properties,
    ...inner.flatMap((form) => undescribed(form, schemas, path)),
    ...(schema.items ? undescribed(schema.items, schemas, `${path}[]`) : []),
  ];
}

describe("the documentation in the document", () => {
  interface Documented {
    operationId: string;
    security?: object[];
    parameters: { name: string; in: string; description?: string; example?: string; required: boolean }[];
    requestBody?: { content: Record<string, { schema: Described; example?: object; examples?: object }> };
    responses: Record<
      string,
      { description?: string; content?: Record<string, { schema: Described; example?: object }> }
    >;
  }
  const read = async () => {
    const { paths, components, webhooks } = JSON.parse(await fetchDocument());
    const operations = Object.values<Record<string, Documented>>(paths).flatMap((path) => Object.values(path));
    return { operations, components, webhooks };
  };

  test("every property of every schema has a description", async () => {
    const { components } = await read();
    const schemas: Record<string, Described> = components.schemas;
    expect(Object.entries(schemas).flatMap(([name, schema]) => undescribed(schema, schemas, name))).toEqual([]);
  });

  test("every parameter and header has a description, and an example where it is required", async () => {
    const { operations, components } = await read();
    const parameters = operations.flatMap((operation) => operation.parameters);
    expect(parameters.filter(({ description = "" }) => description === "")).toEqual([]);
    expect(parameters.filter(({ required, example }) => required && example === undefined)).toEqual([]);
    for (const header of Object.values(components.headers)) expect(header).toHaveProperty("description");
  });

  test("every body and every answer has an example, and every body a schema with a name", async () => {
    for (const { operationId, requestBody, responses } of (await read()).operations) {
      const media = [
        ...Object.values(requestBody?.content ?? {}),
        ...Object.values(responses).flatMap(({ content = {} }) => Object.values(content)),
      ];
      for (const { example, ...more } of media) {
        const examples = "examples" in more ? more.examples : undefined;
        expect([operationId, example ?? examples]).toEqual([operationId, expect.anything()]);
      }
      const { $ref = "" } = requestBody?.content["application/json"]?.schema ?? { $ref: "Request" };
      expect([operationId, $ref]).toEqual([operationId, expect.stringMatching(/Request$/)]);
    }
  });

  test("the examples of refusals say what the operation would", async () => {
    const { operations } = await read();
    const detailOf = (id: string, status: number) => {
      const { responses } = operations.find(({ operationId }) => operationId === id) ?? {};
      return responses?.[status]?.content?.["application/json"]?.example;
    };
    expect(detailOf("hangUpCall", 404)).toEqual({ detail: "Call not found" });
    expect(detailOf("pauseCallBatch", 404)).toEqual({ detail: "Call batch not found" });
    expect(detailOf("getRecording", 404)).toEqual({ detail: "Recording not found" });
    expect(detailOf("createCall", 413)).toEqual({ detail: "The request body must be at most 64 KiB" });
    expect(detailOf("createCallBatch", 413)).toEqual({ detail: "The request body must be at most 4 MiB" });
    expect(detailOf("createPrompt", 413)).toEqual({ detail: "The request body must be at most 1 MiB" });
  });

  test("a chat's three response types are distinguished", async () => {
    const { operations, components } = await read();
    const [ok] = operations.flatMap(({ operationId, responses }) =>
      operationId === "sendMessage" ? responses["200"] : [],
    );
    expect(ok?.description).toContain(
      "`application/json` when `streaming` is false; otherwise `text/event-stream` for a request that accepts it, and `text/plain` for others",
    );
    expect(ok?.content?.["text/plain"]?.schema.description).toContain("`streaming` true or left out");
    expect(ok?.content?.["application/json"]?.schema).toEqual({ $ref: "#/components/schemas/ChatReply" });
    expect(components.schemas.ChatReply.description).toContain("`streaming: false`");
  });

  test("the session cookie has both of its names", async () => {
    const { operations, components } = await read();
    expect(components.securitySchemes).toMatchObject({
      Session: { in: "cookie", name: "__Host-parley_session" },
      SessionOnLoopback: { in: "cookie", name: "parley_session" },
    });
    const [me] = operations.filter(({ operationId }) => operationId === "getOwner");
    expect(me?.security).toEqual([{ Session: [] }, { SessionOnLoopback: [] }]);
  });

  test("there is a webhook for each event, and for the beginning of a conversation", async () => {
    const { webhooks } = await read();
    expect(Object.keys(webhooks)).toEqual([...EVENT_NAMES, "conversation.start"]);
  });
});

describe("a client generated from the document", () => {
  let folder: string;
  // Outside the sources, because other tests and the checks read those at the same time.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "parley-generated-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("compiles under strict rules", async () => {
    const input = join(folder, "openapi.json");
    await Bun.write(input, await fetchDocument());
    await createClient({
      input,
      output: { path: join(folder, "client") },
      plugins: ["@hey-api/client-fetch", "@hey-api/typescript", "@hey-api/sdk"],
      logs: { level: "silent" },
    });
    await Bun.write(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          target: "ESNext",
          module: "Preserve",
          moduleResolution: "bundler",
          lib: ["ESNext", "DOM", "DOM.Iterable"],
          types: [],
          strict: true,
          skipLibCheck: true,
          noEmit: true,
        },
        include: ["client"],
      }),
    );
    const compiled = Bun.spawnSync([join(import.meta.dir, "../../node_modules/.bin/tsc"), "-p", folder]);
    expect(compiled.stdout.toString()).toBe("");
    expect(compiled.exitCode).toBe(0);
    const { createAgent, sendMessage } = await import(join(folder, "client", "sdk.gen.ts"));
    expect(typeof createAgent).toBe("function");
    expect(typeof sendMessage).toBe("function");
  });
});

describe("the page to browse it", () => {
  const PATHS = [
    "/docs",
    "/docs/start.js",
    "/docs/swagger-ui.js",
    "/docs/swagger-ui.css",
    "/docs/look.css",
    "/openapi.json",
    "/nowhere",
  ];

  test("runs only its own scripts and frames, and sends nothing elsewhere", async () => {
    const { headers } = await app.handle(new Request("http://gateway/docs"));
    const policy = (headers.get("content-security-policy") ?? "").split("; ");
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "script-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
      ]),
    );
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  test.each(PATHS.filter((path) => path !== "/nowhere"))("%s is sent compressed, and only once", async (path) => {
    const get = (headers: Record<string, string>) => app.handle(new Request(`http://gateway${path}`, { headers }));
    const { status, headers } = await get({ "accept-encoding": "gzip, br" });
    expect([status, headers.get("content-encoding"), headers.get("vary")]).toEqual([200, "br", "Accept-Encoding"]);
    const again = await get({ "accept-encoding": "gzip, br", "if-none-match": headers.get("etag") ?? "" });
    expect(again.status).toBe(304);
  });

  test.each(PATHS)("%s cannot be taken by a browser for another type", async (path) => {
    const { headers } = await app.handle(new Request(`http://gateway${path}`));
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-request-id")).toBeString();
  });
});
