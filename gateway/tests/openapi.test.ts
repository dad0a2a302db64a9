import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createClient } from "@hey-api/openapi-ts";
import { systemClock } from "@parley/shared/clock";
import { silentLogger } from "@parley/shared/log";
import { createConfig, lintFromString } from "@redocly/openapi-core";
import { createApp } from "../src/app.ts";
import type { Clients } from "../src/clients.ts";
import type { GateContext } from "../src/gate.ts";
import { createAnswers } from "../src/http/answers.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";

// The document says what the routes are; no request reaches a service.
const gate: GateContext = {
  keys: { find: async () => null, close: () => {} },
  accounts: {
    authenticateSession: async () => ({ session: undefined }),
    claimIdempotencyKey: async () => ({}),
  },
  keyLimiter: memoryLimiter(),
  addressLimiter: memoryLimiter(),
  signInLimiter: memoryLimiter(),
  addressOf: () => "127.0.0.1",
  answers: createAnswers(),
  holdOpen: () => () => {},
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

  test("would not pass with an operation that has no id", async () => {
    const document = JSON.parse(await fetchDocument());
    document.paths["/v1/public/agents"].get.operationId = undefined;
    const problems = await lint(JSON.stringify(document));
    expect(problems.map(({ ruleId }) => ruleId)).toContain("operation-operationId");
  });

  test("names every route of the API, with the statuses it can answer", async () => {
    const { paths } = JSON.parse(await fetchDocument());
    const operations = Object.entries<Record<string, { operationId: string; responses: object }>>(paths).flatMap(
      ([path, methods]) => Object.entries(methods).map(([method, { responses }]) => ({ path, method, responses })),
    );
    const served = app.routes.filter(({ path }) => path.startsWith("/v1/"));
    expect(operations).toHaveLength(served.length);
    for (const { responses } of operations) expect(Object.keys(responses)).toContain("401");
  });

  test("is of version 1.0.0, every path of it of v1", async () => {
    const { info, paths } = JSON.parse(await fetchDocument());
    expect(info.version).toBe("1.0.0");
    for (const path of Object.keys(paths)) expect(path).toStartWith("/v1/");
  });

  test("has the words of a choice as an enum and leaves keywords of our own out", async () => {
    const text = await fetchDocument();
    const { components, paths } = JSON.parse(text);
    expect(components.schemas.Agent.properties.agent_type).toEqual({ type: "string", enum: ["INBOUND", "OUTBOUND"] });
    expect(paths["/v1/public/agents"].get.parameters).toContainEqual({
      name: "page_size",
      in: "query",
      required: false,
      schema: { type: "integer", minimum: 1, maximum: 100, default: 10 },
    });
    expect(text).not.toContain('"form"');
    expect(text).not.toContain('"$id"');
  });
});

describe("a client generated from the document", () => {
  let folder: string;
  // Below this folder, so that the compiler finds the project's types.
  beforeAll(async () => {
    folder = await mkdtemp(join(import.meta.dir, "generated-"));
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
  }, 60_000);
});

describe("the page to browse it", () => {
  const PATHS = ["/docs", "/docs/start.js", "/docs/swagger-ui.js", "/docs/swagger-ui.css", "/openapi.json", "/nowhere"];

  test("runs no script and shows no frame but its own, and sends nothing anywhere else", async () => {
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

  test.each(PATHS)("%s is taken by no browser for another type than it says", async (path) => {
    const { headers } = await app.handle(new Request(`http://gateway${path}`));
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("x-request-id")).toBeString();
  });
});
