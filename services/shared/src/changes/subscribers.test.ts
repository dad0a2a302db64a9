import { expect, test } from "bun:test";
import type { Changes, WatchState } from "@parley/proto/parley/common/v1/changes.ts";
import { createSubscribers } from "./subscribers.ts";

const LEASE_MS = 1_000_000;

/** One that has applied the first message, and asks for a lease. */
async function* asking(askedAtMs: number): AsyncGenerator<WatchState> {
  yield { applied: 1, askedAtMs };
  await new Promise(() => {});
}

async function answerTo(askedAtMs: number, messages: AsyncGenerator<Changes>): Promise<Changes> {
  for (;;) {
    const { value } = await messages.next();
    if (value.askedAtMs === askedAtMs) return value;
  }
}

test("a lease that is asked for while there is none is granted as soon as there is one, from the time of asking on", async () => {
  let refused = 0;
  const subscribers = createSubscribers(LEASE_MS, () => refused++);
  const messages = subscribers.serve(asking(7));
  expect((await answerTo(7, messages)).leaseMs).toBe(0);
  expect(refused).toBe(1);
  subscribers.extend(performance.now() + LEASE_MS);
  expect((await answerTo(7, messages)).leaseMs).toBeGreaterThan(0);
  expect(refused).toBe(1);
});

test("a lease that was granted is not granted again for the same request", async () => {
  const subscribers = createSubscribers(LEASE_MS, () => {});
  subscribers.extend(performance.now() + LEASE_MS);
  const messages = subscribers.serve(asking(7));
  expect((await answerTo(7, messages)).leaseMs).toBeGreaterThan(0);
  subscribers.extend(performance.now() + LEASE_MS);
  subscribers.tell({ ownerId: "own_1", name: "desk" });
  const { value: told } = await messages.next();
  expect(told).toMatchObject({ askedAtMs: 0, leaseMs: 0, keys: [{ ownerId: "own_1", name: "desk" }] });
});
