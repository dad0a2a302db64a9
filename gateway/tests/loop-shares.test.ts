import { expect, test } from "bun:test";
import { systemClock } from "@parley/shared/clock";
import { silentLogger } from "@parley/shared/log";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { Type } from "@sinclair/typebox";
import { type GateContext, gated } from "../src/gate.ts";
import { createAnswers } from "../src/http/answer/answers.ts";
import { createBodyShares } from "../src/http/body-shares.ts";
import { createRequestLog } from "../src/http/log-request.ts";
import { createGuesses } from "../src/rate-limit/guesses.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";
import { createRefusals } from "../src/rate-limit/refusals.ts";

const KEYS = { flood: `vk_${"a".repeat(43)}`, limited: `vk_${"b".repeat(43)}`, other: `vk_${"c".repeat(43)}` };
const hashOf = (key: string) => new Bun.CryptoHasher("sha256").update(key).digest("hex");

/** The keys above have a grant. */
function grantOf(keyHash: Uint8Array) {
  const hash = Buffer.from(keyHash).toString("hex");
  if (!Object.values(KEYS).some((key) => hashOf(key) === hash)) return null;
  const rateLimitPerMinute = hash === hashOf(KEYS.limited) ? 1 : 1_000_000;
  return { ownerId: `own_${hash}`, keyId: "key_1", scopes: ["agents:read"], rateLimitPerMinute };
}

const gate: GateContext = {
  keys: { find: async (keyHash: Uint8Array) => grantOf(keyHash) as never, close: () => {} },
  accounts: { authenticateSession: async () => ({ session: undefined }), claimIdempotencyKey: async () => ({}) },
  keyLimiter: memoryLimiter(),
  addressLimiter: memoryLimiter(),
  guesses: createGuesses({ limiter: memoryLimiter() }),
  signInLimiter: memoryLimiter(),
  refusals: createRefusals(),
  addressOf: () => "127.0.0.1",
  answers: createAnswers(),
  bodies: createBodyShares(),
  identified: () => {},
  logRequest: createRequestLog(silentLogger),
  publicUrl: "",
  holdOpen: () => () => {},
  clock: systemClock,
  log: silentLogger,
};

/** Longer than an owner's share of a turn of the loop, on any machine. */
function work(): void {
  for (const until = performance.now() + 3; performance.now() < until; );
}

const ask = (key: string) => ({
  request: new Request("http://gateway/", { headers: { "x-api-key": key } }),
  params: {},
});

test("a request does not wait for the loop behind all requests of another owner that arrived before it", async () => {
  const served: string[] = [];
  const read = gated(gate, { id: "read", scope: "agents:read" }, async ({ request }) => {
    work();
    served.push(request.headers.get("x-api-key") === KEYS.flood ? "flood" : "other");
    return {};
  });
  await Promise.all([...Array.from({ length: 30 }, () => ask(KEYS.flood)), ask(KEYS.other)].map(read));
  expect(served).toHaveLength(31);
  expect(served.indexOf("other")).toBeLessThan(5);
});

test.each([
  ["a wrong key", () => `vk_${newKey()}`],
  ["a key over its rate", () => KEYS.limited],
])("a request does not wait for the loop behind all refusals of %s", async (_, key) => {
  const statuses: number[] = [];
  const info = ({ status }: { status: number }) => {
    work();
    statuses.push(status);
  };
  const log = { ...silentLogger, isLevelEnabled: () => true, info } as unknown as typeof silentLogger;
  const read = gated(
    { ...gate, logRequest: createRequestLog(log) },
    { id: "read", scope: "agents:read" },
    async () => ({}),
  );
  await read(ask(KEYS.limited));
  statuses.length = 0;
  await Promise.all([...Array.from({ length: 30 }, () => ask(key())), ask(KEYS.other)].map(read));
  expect(statuses).toHaveLength(31);
  expect(statuses.indexOf(200)).toBeLessThan(5);
});

test("a long body that has no room is refused before the owner's other requests begin, and is not kept until then", async () => {
  const ended: string[] = [];
  const shares = byteShares({ what: "large requests", totalBytes: 200_000, ownerBytes: 100_000, waitingMax: 0 });
  const rules = { id: "read", scope: "agents:read", body: Type.Object({}) } as const;
  const read = gated({ ...gate, bodies: createBodyShares({ shares }) }, rules, async () => {
    work();
    return {};
  });
  const send = async (name: string, body: string) => {
    const headers = {
      "x-api-key": KEYS.flood,
      "Content-Type": "application/json",
      "Content-Length": String(body.length),
    };
    const request = new Request("http://gateway/", { method: "POST", headers, body });
    const { status } = await read({ request, params: {} });
    ended.push(`${name} ${status} ${request.bodyUsed}`);
  };
  const long = `{"text":"${"a".repeat(90_000)}"}`;
  const short = Array.from({ length: 20 }, () => send("short", "{}"));
  await Promise.all([send("first", long), ...short, send("second", long)]);
  expect(ended.indexOf("second 429 true")).toBeGreaterThanOrEqual(0);
  expect(ended.indexOf("second 429 true")).toBeLessThan(10);
  expect(ended).toContain("first 200 true");
});

function newKey(): string {
  return crypto.randomUUID().replaceAll("-", "").padEnd(43, "x");
}
