import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { ServiceError } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import { serviceErrorOf } from "@parley/testkit/failures";
import type { WhatsAppContext } from "../context.ts";
import { handleCallback } from "./handle-callback.ts";

const CONNECTION = { ownerId: "own_1", carrierId: "car_1", phoneNumberId: "1", appSecret: "secret" };
const CALL = { signal: new AbortController().signal } as Call;

/** Handles a signed callback whose owner's pace is this. */
function handle(text: string, take: (count: number) => void) {
  const runNow = (_key: string, _gone: AbortSignal, work: () => unknown) => work();
  const ctx = {
    connections: { find: async () => CONNECTION },
    verifyFewAtOnce: runNow,
    intake: {
      pace: async (_ownerId: string, count: number) => take(count),
      withinPace: (_ownerId: string, messages: readonly unknown[]) => messages,
      fewAtOnce: runNow,
    },
  } as unknown as WhatsAppContext;
  const body = Buffer.from(text);
  const signature = `sha256=${createHmac("sha256", CONNECTION.appSecret).update(body).digest("hex")}`;
  return handleCallback(ctx)({ carrierId: CONNECTION.carrierId, body, signature }, CALL);
}

test("a long callback counts towards its owner's pace even if it has no message, and a short one does not", async () => {
  for (const [padding, first] of [
    [100, 0],
    [40 * 1024, 2],
  ] as const) {
    const counts: number[] = [];
    await handle(JSON.stringify({ entry: [], padding: "x".repeat(padding) }), (count) => counts.push(count));
    expect(counts).toEqual([first, 0]);
  }
});

test("a callback for which its owner has no time left is refused unread", async () => {
  const refused = handle("{", () => {
    throw new ServiceError("rate_limited", "too many");
  });
  expect(await serviceErrorOf(refused)).toMatchObject({ kind: "rate_limited" });
});
