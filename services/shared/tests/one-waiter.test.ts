import { expect, test } from "bun:test";
import { oneWaiter } from "../src/idempotency/one-waiter.ts";

const STAYS = new AbortController().signal;

/** A waiter whose look-ups the test answers, and the keys that it has looked up. */
function manual() {
  const pauses: (() => void)[] = [];
  const waiter = oneWaiter(() => new Promise<void>((resolve) => pauses.push(resolve)));
  const looks: string[] = [];
  let isOver = false;
  const wait = (ownerId: string, key: string, gone = STAYS) =>
    waiter.wait(
      ownerId,
      key,
      async () => {
        looks.push(`${ownerId} ${key}`);
        return isOver;
      },
      gone,
    );
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const look = async () => {
    for (const resume of pauses.splice(0)) resume();
    await settled();
  };
  const end = () => {
    isOver = true;
  };
  return { wait, look, end, looks, pauses };
}

test("sixty-four requests that wait for one key share each look-up, and all continue", async () => {
  const { wait, look, end, looks } = manual();
  const waiting = Array.from({ length: 64 }, () => wait("own_a", "key"));
  await look();
  expect(looks).toHaveLength(1);
  end();
  await look();
  expect(looks).toHaveLength(2);
  await Promise.all(waiting);
});

test("the same key of two owners is two keys", async () => {
  const { wait, look, end, looks } = manual();
  const waiting = [wait("own_a", "key"), wait("own_b", "key")];
  end();
  await look();
  expect(looks).toEqual(["own_a key", "own_b key"]);
  await Promise.all(waiting);
});

test("a request that leaves stops waiting, and the look-ups end with the last one", async () => {
  const { wait, look, looks, pauses } = manual();
  const leaving = new AbortController();
  const waiting = Promise.allSettled([1, 2].map(() => wait("own_a", "key", leaving.signal)));
  await look();
  leaving.abort();
  const left = { status: "rejected", reason: { kind: "cancelled" } };
  expect(await waiting).toMatchObject([left, left]);
  await look();
  expect(looks).toHaveLength(1);
  expect(pauses).toEqual([]);
});

test("a failed look-up fails all waiting requests, and the next request looks again", async () => {
  const pauses: (() => void)[] = [];
  const waiter = oneWaiter(() => new Promise<void>((resolve) => pauses.push(resolve)));
  const fail = () => Promise.reject(new Error("no database"));
  const waiting = [1, 2].map(() => waiter.wait("own_a", "key", fail, STAYS).catch((error: Error) => error.message));
  pauses.shift()?.();
  expect(await Promise.all(waiting)).toEqual(["no database", "no database"]);
  const next = waiter.wait("own_a", "key", async () => true, STAYS);
  pauses.shift()?.();
  await next;
});
