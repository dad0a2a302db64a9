import { expect, test } from "bun:test";
import { systemClock } from "@parley/shared/clock";
import { silentLogger } from "@parley/shared/log";
import { type GateContext, gated } from "../src/gate.ts";
import { createAnswers } from "../src/http/answer/answers.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";

const KEYS = { flood: `vk_${"a".repeat(43)}`, other: `vk_${"b".repeat(43)}` };

const grantOf = (keyHash: Uint8Array) => ({
  ownerId: `own_${Buffer.from(keyHash).toString("hex")}`,
  keyId: "key_1",
  scopes: ["agents:read"],
  rateLimitPerMinute: 1_000_000,
});

const gate: GateContext = {
  keys: { find: async (keyHash: Uint8Array) => grantOf(keyHash) as never, close: () => {} },
  accounts: { authenticateSession: async () => ({ session: undefined }), claimIdempotencyKey: async () => ({}) },
  keyLimiter: memoryLimiter(),
  addressLimiter: memoryLimiter(),
  signInLimiter: memoryLimiter(),
  addressOf: () => "127.0.0.1",
  answers: createAnswers(),
  publicUrl: "",
  holdOpen: () => () => {},
  clock: systemClock,
  log: silentLogger,
};

test("a request does not wait for the loop behind all requests of another owner that arrived before it", async () => {
  const served: string[] = [];
  const read = gated(gate, { id: "read", scope: "agents:read" }, async ({ request }) => {
    // Longer than an owner's share of a turn of the loop, on any machine.
    for (const until = performance.now() + 3; performance.now() < until; );
    served.push(request.headers.get("x-api-key") === KEYS.flood ? "flood" : "other");
    return {};
  });
  const ask = (key: string) =>
    read({ request: new Request("http://gateway/", { headers: { "x-api-key": key } }), params: {} });
  await Promise.all([...Array.from({ length: 30 }, () => ask(KEYS.flood)), ask(KEYS.other)]);
  expect(served).toHaveLength(31);
  expect(served.indexOf("other")).toBeLessThan(5);
});
