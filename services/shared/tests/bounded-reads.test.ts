import { expect, test } from "bun:test";
import { boundedReads } from "../src/bounded-reads.ts";
import { PAGE_BYTES_MAX } from "../src/db/bounded-page.ts";
import { eventually } from "../src/testing/eventually.ts";
import { failureOf } from "./fixtures/failure-of.ts";
import { serveTest } from "./fixtures/serve-test.ts";

/** A service whose reads take up their owner's share, and last until they are let go. */
async function serveReads() {
  const bounded = boundedReads();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const served = await serveTest({
    once: ({ ownerId, fails }, call) =>
      bounded(String(ownerId), 2 * PAGE_BYTES_MAX, call, async () => {
        begun.push(String(ownerId));
        await new Promise<void>((resolve) => ends.push(resolve));
        if (fails) throw new Error("a read failed");
        return { text: "a".repeat(1_000_000) };
      }),
  });
  return { served, begun, endNext: () => ends.shift()?.(), [Symbol.asyncDispose]: () => served[Symbol.asyncDispose]() };
}

test("an owner whose share is taken up waits for its own reads, and nobody else does", async () => {
  await using reads = await serveReads();
  const { client } = reads.served;
  const first = client.once({ ownerId: "own_1" });
  await eventually(() => expect(reads.begun).toEqual(["own_1"]));
  const second = client.once({ ownerId: "own_1" });
  const other = client.once({ ownerId: "own_2" });
  await eventually(() => expect(reads.begun).toEqual(["own_1", "own_2"]));
  reads.endNext();
  await first;
  await eventually(() => expect(reads.begun).toEqual(["own_1", "own_2", "own_1"]));
  reads.endNext();
  reads.endNext();
  await Promise.all([second, other]);
});

test("a read that fails, and one whose caller leaves, give back what they held", async () => {
  await using reads = await serveReads();
  const { client } = reads.served;
  const failing = failureOf(client.once({ ownerId: "own_1", fails: true }));
  await eventually(() => expect(reads.begun).toHaveLength(1));
  reads.endNext();
  expect(await failing).toMatchObject({ kind: "internal" });
  const gone = new AbortController();
  const left = failureOf(client.once({ ownerId: "own_1" }, { origin: { requestId: "r", signal: gone.signal } }));
  await eventually(() => expect(reads.begun).toHaveLength(2));
  gone.abort();
  await left;
  const next = client.once({ ownerId: "own_1" });
  await eventually(() => expect(reads.begun).toHaveLength(3));
  reads.endNext();
  reads.endNext();
  await next;
});
