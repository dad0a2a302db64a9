import { expect, test } from "bun:test";
import type { KeyGrant } from "@parley/proto/parley/account/v1/account.ts";
import { systemClock } from "@parley/shared/clock";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { recordLog } from "@parley/testkit/recorded-log";
import { createAdmission } from "../src/admission.ts";
import { type GateContext, gated } from "../src/gate.ts";
import { createRequestLog } from "../src/http/log-request.ts";
import { eventStreams } from "../src/live/streams.ts";
import type { OpenOperation } from "../src/openapi/open-operation.ts";
import { createGuesses } from "../src/rate-limit/guesses.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";
import { openEndpoint } from "../src/routes/open-endpoint.ts";

const KEY = `vk_${"a".repeat(43)}`;

function gateWith(log: Logger): GateContext {
  const grant = { keyId: "key_1", ownerId: "own_1", rateLimitPerMinute: 3, status: 1, scopes: ["*"] };
  return {
    keys: { find: async () => grant as unknown as KeyGrant, close: () => {} },
    accounts: { authenticateSession: async () => ({ session: undefined }), claimIdempotencyKey: async () => ({}) },
    keyLimiter: memoryLimiter(),
    addressLimiter: memoryLimiter(),
    guesses: createGuesses({ limiter: memoryLimiter() }),
    signInLimiter: memoryLimiter(),
    addressOf: () => "127.0.0.1",
    admission: createAdmission(() => ({ known: null, isKeyless: false, address: "192.0.2.1" })),
    logRequest: createRequestLog(log),
    publicUrl: "",
    holdOpen: () => () => {},
    streams: eventStreams(),
    clock: systemClock,
    log,
  };
}

/** The lines that one request leaves, from info up. */
async function linesOf(work: () => Promise<object>) {
  const { log, lines } = recordLog("info");
  const headers = { "x-api-key": KEY, "x-request-id": "req-1" };
  const request = new Request("http://gateway/v1/public/conversations?search=zebra", { headers });
  await gated(gateWith(log), { id: "listConversations", scope: "conversations:read" }, work)({ request, params: {} });
  return lines;
}

test("a request leaves one line, with who asked for what and how it ended, and without key or query", async () => {
  const lines = await linesOf(async () => ({ data: [] }));
  expect(lines).toMatchObject([
    {
      level: "info",
      msg: "request",
      request_id: "req-1",
      operation: "listConversations",
      method: "GET",
      path: "/v1/public/conversations",
      status: 200,
      ms: expect.any(Number),
      owner_id: "own_1",
      caller_id: "key_1",
    },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(new RegExp(`zebra|${KEY}`));
});

test("a refused request is logged at info, a failed one as a warning with its error", async () => {
  const refused = () => Promise.reject(new ServiceError("not_found", "Agent not found"));
  expect(await linesOf(refused)).toMatchObject([{ level: "info", msg: "request", status: 404 }]);
  const failed = () => Promise.reject(new TypeError("broken"));
  expect(await linesOf(failed)).toMatchObject([{ level: "warn", status: 500, err: { message: "broken" } }]);
});

test("a callback leaves one line too, without its query and without an owner", async () => {
  const { log, lines } = recordLog("info");
  const operation: OpenOperation = {
    id: "handleCallback",
    tag: "Calls",
    summary: "Handle a callback",
    description: "",
    security: [],
    success: {},
    refuses: {},
  };
  const rules = { perAddress: { name: "callbacks", perMinute: 1, refusal: "Too many callbacks" } };
  const [handle] = openEndpoint(gateWith(log), operation, rules, async () => new Response(null, { status: 204 }));
  const request = new Request("http://gateway/v1/carriers/whatsapp/car_1?hub.verify_token=zebra", { method: "POST" });
  await handle({ request, params: {} });
  await handle({ request, params: {} });
  expect(lines).toMatchObject([
    { level: "info", msg: "request", operation: "handleCallback", path: "/v1/carriers/whatsapp/car_1", status: 204 },
    { level: "info", msg: "request", operation: "handleCallback", status: 429 },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/zebra|owner_id/);
});

test("refused requests without a key leave at most 60 lines a minute, and the next line says how many left none", () => {
  let nowMs = 0;
  const { log, lines } = recordLog("info");
  const logRequest = createRequestLog(log, () => nowMs);
  const refused = (caller: { ownerId: string; id: string } | null = null) =>
    logRequest("listAgents", {
      request: new Request("http://gateway/v1/public/agents"),
      requestId: "req-1",
      caller,
      status: 401,
      startedAt: 0,
      failure: null,
    });
  for (let at = 0; at < 1_000; at++) refused();
  expect(lines).toHaveLength(60);
  refused({ ownerId: "own_1", id: "key_1" });
  expect(lines).toHaveLength(61);
  nowMs = 60_001;
  refused();
  expect(lines).toHaveLength(62);
  expect(lines[61]).toMatchObject({ unlogged: 940 });
});
