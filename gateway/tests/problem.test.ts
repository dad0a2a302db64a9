import { expect, test } from "bun:test";
import type { KeyGrant } from "@parley/proto/parley/account/v1/account.ts";
import { systemClock } from "@parley/shared/clock";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { createAdmission } from "../src/admission.ts";
import { createApp } from "../src/app.ts";
import type { Clients } from "../src/clients.ts";
import type { GateContext } from "../src/gate.ts";
import { createRequestLog } from "../src/http/log-request.ts";
import { eventStreams } from "../src/live/streams.ts";
import { createGuesses } from "../src/rate-limit/guesses.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";

const SECRET = "relation owners does not exist";

/** The answer to a request that gets no further than its key or its rate. */
async function answerOf(given: Pick<GateContext, "keys"> & Partial<GateContext>): Promise<Response> {
  const gate: GateContext = {
    accounts: { authenticateSession: async () => ({ session: undefined }), claimIdempotencyKey: async () => ({}) },
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
    ...given,
  };
  const headers = { "x-api-key": `vk_${"a".repeat(43)}`, "x-request-id": "req-1" };
  const request = new Request("http://gateway/v1/public/agents", { headers });
  return createApp(gate, { accounts: {} } as Clients, { isDraining: false }).handle(request);
}

const keysThatFail = (reason: Error) => ({ keys: { find: () => Promise.reject(reason), close: () => {} } });

test.each([
  ["the gateway failed", new TypeError(SECRET)],
  ["a service failed", new ServiceError("internal", SECRET)],
])("an unexpected error is 500 and says only the request's id and that %s", async (category, reason) => {
  const answer = await answerOf(keysThatFail(reason));
  expect(answer.status).toBe(500);
  expect(answer.headers.get("x-request-id")).toBe("req-1");
  expect(await answer.json()).toEqual({ detail: `Internal Server Error: request req-1, ${category}` });
});

test("an unreachable service is 503, with the time to retry", async () => {
  const reached = new ServiceError("unavailable", "The account service cannot be reached");
  expect((await answerOf(keysThatFail(reached))).headers.get("retry-after")).toBe("1");
  const answer = await answerOf(keysThatFail(new ServiceError("unavailable", "Busy", { retryAfterMs: 1_200 })));
  expect([answer.status, await answer.json()]).toEqual([503, { detail: "Busy" }]);
  expect(answer.headers.get("retry-after")).toBe("2");
});

test("the shortest Retry-After is one second", async () => {
  const answer = await answerOf(keysThatFail(new ServiceError("rate_limited", "Slowly", { retryAfterMs: 0 })));
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"]);
});

test("a 429 has Retry-After even if the service names no time", async () => {
  const answer = await answerOf(keysThatFail(new ServiceError("rate_limited", "Too many calls in progress")));
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "1"]);
});

test.each(["upstream_failed", "internal"] as const)("a turn that failed as %s names its session", async (kind) => {
  const failed = new ServiceError(kind, "No", { metadata: { session_id: "ses-1" } });
  expect((await answerOf(keysThatFail(failed))).headers.get("x-session-id")).toBe("ses-1");
});

test("a request over the rate is 429, with the limiter's decision in its headers", async () => {
  const grant = { keyId: "key_1", rateLimitPerMinute: 3, status: 1 } as KeyGrant;
  const decision = { allowed: false, limit: 3, remaining: 0, resetAtSeconds: 1_800_000_000, retryAfterSeconds: 42 };
  const answer = await answerOf({
    keys: { find: async () => grant, close: () => {} },
    keyLimiter: { take: async () => decision },
  });
  expect(answer.status).toBe(429);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "retry-after": "42",
    "x-ratelimit-limit": "3",
    "x-ratelimit-remaining": "0",
    "x-ratelimit-reset": "1800000000",
  });
});
