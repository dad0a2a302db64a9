import { afterAll, expect, test } from "bun:test";
import { newId } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import { fakeClock } from "@parley/testkit/clock";
import { TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { sealSecret } from "../secrets.ts";
import type { PendingDelivery } from "../store/deliveries.ts";
import type { DestinationRow } from "../store/destinations.ts";
import { createLane } from "./lane.ts";
import type { LendPayload } from "./payloads.ts";
import { newDelivery } from "./state.ts";

const sealer = createSealer(TEST_SECRET);
const clock = fakeClock();
const stopping = new AbortController();
/** Resolves when the attempts that hang are to end. */
const over = Promise.withResolvers<void>();
const runs: Promise<unknown>[] = [];

afterAll(async () => {
  stopping.abort();
  over.resolve();
  await Promise.all(runs);
});

/** Starts a lane with two deliveries due. */
function startLane(lend: (eventId: string) => Promise<null>): { readsSoFar(): number; wake(): void } {
  const key = { ownerId: newOwner(), destinationId: newId("whd") };
  const now = clock.now();
  const destination: DestinationRow = {
    ...{
      ...key,
      name: "CRM",
      url: "http://127.0.0.1:1",
      requestType: "POST",
      retrySchedule: "standard",
      enabled: true,
      events: ["conversation.completed"],
      oldSecrets: [],
    },
    ...{ sealedSecret: sealSecret(sealer, key, "secret"), createdAt: now, updatedAt: now },
  };
  const pending = ["first", "second"].map(
    (eventId): PendingDelivery => ({
      ...{ ...newDelivery("standard", now), ...key, deliveryId: newId("dlv"), nextAttemptAt: now, eventId },
      ...{ event: "conversation.completed", payload: null, payloadBytes: 5_000, traceparent: null },
    }),
  );
  let reads = 0;
  const read = async ({ except }: { except: readonly string[] }) => {
    reads++;
    return { destination, pending: pending.filter(({ deliveryId }) => !except.includes(deliveryId)) };
  };
  const never = () => Promise.reject(new Error("not in this test"));
  const lane = createLane(
    {
      ...{ read, sealer, cancel: never, settle: never, places: () => 32, turnMs: () => 60_000 },
      lend: (({ eventId }) => lend(eventId)) as LendPayload,
      sender: { ask: never as never, timeoutMs: 1_000, clock, log: silentLogger },
      costly: { take: never as never },
      stopping: stopping.signal,
    },
    key,
    new AbortController().signal,
  );
  runs.push(lane.work());
  return { readsSoFar: () => reads, wake: lane.wake };
}

test("a payload that cannot be read is read again after a pause that grows, and others are delivered meanwhile", async () => {
  const tries: string[] = [];
  const { readsSoFar, wake } = startLane(async (eventId) => {
    tries.push(eventId);
    if (eventId === "second") return over.promise.then(() => null);
    throw new Error("the payload is damaged");
  });
  /** Lets time pass, and the lane look at it twice. */
  const pass = async (ms: number) => {
    clock.advance(ms);
    for (const before of [readsSoFar(), readsSoFar() + 1]) {
      wake();
      await eventually(() => expect(readsSoFar()).toBeGreaterThan(before));
    }
  };
  await pass(0);
  expect(tries.toSorted()).toEqual(["first", "second"]);
  await pass(1_000);
  expect(tries.filter((eventId) => eventId === "first")).toHaveLength(2);
  await pass(60_000);
  expect(tries.filter((eventId) => eventId === "first")).toHaveLength(3);
  // It has been due for a minute.
  await pass(1_000);
  expect(tries.filter((eventId) => eventId === "first")).toHaveLength(3);
  await pass(6_000);
  expect(tries.filter((eventId) => eventId === "first")).toHaveLength(4);
});
