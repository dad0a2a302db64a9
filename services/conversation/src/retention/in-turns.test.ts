import { expect, test } from "bun:test";
import { inTurns } from "./in-turns.ts";

const NEVER = new AbortController().signal;

/** Work of this many parts for each owner. */
function workOf(parts: Record<string, number>) {
  const done: string[] = [];
  const doPart = async (ownerId: string) => {
    done.push(ownerId);
    const left = (parts[ownerId] ?? 0) - 1;
    parts[ownerId] = left;
    return left > 0;
  };
  return { done, doPart, owners: Object.keys(parts) };
}

test("an owner waits for at most one part of each other owner's work", async () => {
  const { done, doPart, owners } = workOf({ a: 4, b: 1, c: 2 });
  await inTurns(owners, doPart, NEVER);
  expect(done.join("")).toBe("abcacaa");
});

test("work that is stopped ends after the current part", async () => {
  const { done, doPart, owners } = workOf({ a: 4, b: 4 });
  const stopping = new AbortController();
  const stopAtThird = (ownerId: string) => {
    if (done.length === 2) stopping.abort();
    return doPart(ownerId);
  };
  await inTurns(owners, stopAtThird, stopping.signal);
  expect(done.join("")).toBe("aba");
});

test("an owner whose part fails gets no further turn, the others get theirs, and the failure is reported", async () => {
  const { done, doPart, owners } = workOf({ a: 4, b: 3 });
  const failing = async (ownerId: string) => {
    const more = await doPart(ownerId);
    if (ownerId === "a") throw new Error("no");
    return more;
  };
  expect(await inTurns(owners, failing, NEVER).catch(String)).toBe("Error: no");
  expect(done.join("")).toBe("abbb");
});
