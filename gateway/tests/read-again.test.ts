import { expect, test } from "bun:test";
import { systemClock } from "@parley/shared/clock";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import type { GateContext } from "../src/gate.ts";
import { gated } from "../src/gate.ts";
import { createAnswers } from "../src/http/answer/answers.ts";
import { createBodyShares } from "../src/http/body-shares.ts";
import { createRequestLog } from "../src/http/log-request.ts";
import { createGuesses } from "../src/rate-limit/guesses.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";
import { createRefusals } from "../src/rate-limit/refusals.ts";

const MIB = 1024 * 1024;

const grant = { ownerId: "own_1", keyId: "key_1", scopes: ["conversations:read"], rateLimitPerMinute: 1_000_000 };

const gate: GateContext = {
  keys: { find: async () => grant as never, close: () => {} },
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

test("a read whose response does not fit is repeated when there is room, and the client notices nothing", async () => {
  let reads = 0;
  const bothBegun = Promise.withResolvers<void>();
  const read = gated(
    gate,
    { id: "read", scope: "conversations:read", answerBytesMax: 16 * MIB },
    async ({ origin }) => {
      if (++reads === 2) bothBegun.resolve();
      await bothBegun.promise;
      if (origin.onAnswer?.(20 * MIB) === false) throw new ServiceError("rate_limited", "No room");
      return { texts: Array.from({ length: 20 }, () => "a".repeat(MIB)) };
    },
  );
  const ask = () => {
    const request = new Request("http://gateway/", { headers: { "x-api-key": `vk_${"a".repeat(43)}` } });
    return read({ request, params: {} });
  };
  const both = await Promise.all([ask(), ask()].map(async (asked) => (await asked).text()));
  expect(both.map((text) => text.length)).toEqual([both[0]?.length, both[0]?.length] as number[]);
  expect(both[0]?.length).toBeGreaterThan(20 * MIB);
  expect(reads).toBe(3);
});
