import { expect, test } from "bun:test";
import { systemClock } from "@parley/shared/clock";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { createApp } from "../src/app.ts";
import type { Clients } from "../src/clients.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";

const SECRET = "relation owners does not exist";

/** What a request gets whose key cannot be looked up for that reason. */
async function answerTo(reason: Error): Promise<Response> {
  const gate = {
    keys: { find: () => Promise.reject(reason), close: () => {} },
    accounts: { authenticateSession: async () => ({ session: undefined }), claimIdempotencyKey: async () => ({}) },
    keyLimiter: memoryLimiter(),
    addressLimiter: memoryLimiter(),
    signInLimiter: memoryLimiter(),
    addressOf: () => "127.0.0.1",
    holdOpen: () => () => {},
    clock: systemClock,
    log: silentLogger,
  };
  const headers = { "x-api-key": `vk_${"a".repeat(43)}`, "x-request-id": "req-1" };
  return createApp(gate, { accounts: {} } as Clients, { isDraining: false }).handle(
    new Request("http://gateway/v1/public/agents", { headers }),
  );
}

test.each([
  ["the gateway failed", new TypeError(SECRET)],
  ["a service failed", new ServiceError("internal", SECRET)],
])("what nobody foresaw is 500, says no more than the request's id and that %s", async (category, reason) => {
  const answer = await answerTo(reason);
  expect(answer.status).toBe(500);
  expect(answer.headers.get("x-request-id")).toBe("req-1");
  expect(await answer.json()).toEqual({ detail: `Internal Server Error: request req-1, ${category}` });
});

test("what is out of reach is 503, with when to try again", async () => {
  const reached = new ServiceError("unavailable", "The account service cannot be reached");
  expect((await answerTo(reached)).headers.get("retry-after")).toBe("1");
  const busy = new ServiceError("unavailable", "Busy", { retryAfterMs: 1_200 });
  const answer = await answerTo(busy);
  expect([answer.status, answer.headers.get("retry-after"), await answer.json()]).toEqual([
    503,
    "2",
    { detail: "Busy" },
  ]);
});
