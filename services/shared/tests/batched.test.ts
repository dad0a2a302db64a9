import { describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { eventually } from "@parley/testkit/eventually";
import { type BatchOptions, batched, createLane } from "../src/rpc/batched.ts";

/** A read whose calls the test answers, with each key in capitals. */
function heldReads(
  keysMax = 10,
  idOf?: (key: string) => string,
  waiting: Pick<BatchOptions<string>, "waitMaxMs" | "lane"> = {},
) {
  const calls: { keys: readonly string[]; answer(): void; fail(error: Error): void }[] = [];
  const read = batched<string, string>(
    (keys) => {
      const { promise, resolve, reject } = Promise.withResolvers<(string | Error)[]>();
      const values = keys.map((key) => (key === "gone" ? new Error("no such thing") : key.toUpperCase()));
      calls.push({ keys, answer: () => resolve(values), fail: reject });
      return promise;
    },
    keysMax,
    { ...(idOf && { idOf }), ...waiting },
  );
  const call = (at: number) =>
    eventually(() => {
      const made = calls[at];
      if (!made) throw new Error(`call ${at} was not made`);
      return made;
    });
  return { read, calls, call };
}

describe("batched reads", () => {
  test("all reads of one tick are one call, and each gets its own answer or error", async () => {
    const { read, call, calls } = heldReads();
    const reads = Promise.allSettled([read("a"), read("gone"), read("b"), read("a")]);
    (await call(0)).answer();
    const outcomes = (await reads).map((outcome) => (outcome.status === "fulfilled" ? outcome.value : outcome.reason));
    expect(outcomes).toEqual(["A", new Error("no such thing"), "B", "A"]);
    expect(calls.map(({ keys }) => keys)).toEqual([["a", "gone", "b", "a"]]);
  });

  test("a key is read once per call, whoever wants it, and again by the next call", async () => {
    const { read, call, calls } = heldReads(10, (key) => key);
    const first = Promise.allSettled([read("a"), read("gone"), read("a"), read("gone")]);
    const { answer } = await call(0);
    const second = read("a");
    answer();
    const outcomes = (await first).map((outcome) => (outcome.status === "fulfilled" ? outcome.value : outcome.reason));
    expect(outcomes).toEqual(["A", new Error("no such thing"), "A", new Error("no such thing")]);
    (await call(1)).answer();
    expect(await second).toBe("A");
    expect(calls.map(({ keys }) => keys)).toEqual([["a", "gone"], ["a"]]);
  });

  test("reads requested during a call go out together after it", async () => {
    const { read, call, calls } = heldReads();
    const first = read("a");
    const { answer } = await call(0);
    const later = [read("b")];
    await Promise.resolve();
    later.push(read("c"));
    expect(calls).toHaveLength(1);
    answer();
    expect(await first).toBe("A");
    (await call(1)).answer();
    expect(await Promise.all(later)).toEqual(["B", "C"]);
    expect(calls[1]?.keys).toEqual(["b", "c"]);
  });

  test("a call that is never answered does not block the next ones", async () => {
    const { read, call } = heldReads();
    read("a");
    await call(0);
    for (const at of [1, 2]) {
      const next = read(`b${at}`);
      (await call(at)).answer();
      expect(await next).toBe(`B${at}`);
    }
  });

  test("a failed call fails only its own reads", async () => {
    const { read, call } = heldReads();
    const failing = read("a");
    const { fail } = await call(0);
    const next = read("b");
    fail(new Error("unreachable"));
    await expect(failing).rejects.toThrow("unreachable");
    (await call(1)).answer();
    expect(await next).toBe("B");
  });

  test("no call has more keys than allowed", async () => {
    const { read, call, calls } = heldReads(2);
    const reads = Promise.all(["a", "b", "c"].map(read));
    for (const at of [0, 1]) (await call(at)).answer();
    expect(await reads).toEqual(["A", "B", "C"]);
    expect(calls.map(({ keys }) => keys)).toEqual([["a", "b"], ["c"]]);
  });

  test("batches in one lane have one call in progress, and take turns", async () => {
    const waiting = { waitMaxMs: 1e6, lane: createLane() };
    const [one, other] = [heldReads(10, undefined, waiting), heldReads(10, undefined, waiting)];
    const reads = [one.read("a"), other.read("b")];
    const first = await one.call(0);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect(other.calls).toHaveLength(0);
    reads.push(one.read("c"));
    first.answer();
    const second = await other.call(0);
    reads.push(other.read("d"));
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect(one.calls).toHaveLength(1);
    second.answer();
    const third = await one.call(1);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    expect(other.calls).toHaveLength(1);
    third.answer();
    (await other.call(1)).answer();
    expect(await Promise.all(reads)).toEqual(["A", "B", "C", "D"]);
  });

  test("a call that is never answered does not block the other batches of its lane", async () => {
    const lane = createLane();
    const [one, other] = [heldReads(10, undefined, { lane }), heldReads(10, undefined, { lane })];
    one.read("a");
    await one.call(0);
    const read = other.read("b");
    (await other.call(0)).answer();
    expect(await read).toBe("B");
  });
});
