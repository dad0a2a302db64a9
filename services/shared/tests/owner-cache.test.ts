import { expect, test } from "bun:test";
import { ownerCache } from "../src/shares/owner-cache.ts";

const bounds = { totalBytes: 1_000, ownerBytes: 250 };

function fill(cache: ReturnType<typeof ownerCache<string>>, ownerId: string, count: number, bytes: number): void {
  for (let at = 0; at < count; at++) cache.set(ownerId, `agent ${at}`, `${ownerId} ${at}`, bytes);
}

test("an owner with 100,000 large agents evicts nobody else's and holds no more than its share", () => {
  const cache = ownerCache<string>(bounds);
  fill(cache, "small", 2, 10);
  fill(cache, "hostile", 100_000, 100);
  expect(cache.get("small", "agent 0")).toBe("small 0");
  expect(cache.get("small", "agent 1")).toBe("small 1");
  expect(cache.heldBytes()).toBeLessThanOrEqual(20 + bounds.ownerBytes);
});

test("a full cache makes room for a new owner by evicting from the owners that hold most", () => {
  const cache = ownerCache<string>(bounds);
  fill(cache, "small", 1, 10);
  for (const owner of ["a", "b", "c", "d", "e"]) fill(cache, owner, 10, 50);
  expect(cache.heldBytes()).toBeLessThanOrEqual(bounds.totalBytes);
  expect(cache.get("small", "agent 0")).toBe("small 0");
  fill(cache, "newcomer", 1, 100);
  expect(cache.get("newcomer", "agent 0")).toBe("newcomer 0");
  expect(cache.heldBytes()).toBeLessThanOrEqual(bounds.totalBytes);
});

test("an owner's least recently used values go first", () => {
  const cache = ownerCache<string>(bounds);
  fill(cache, "one", 5, 50);
  cache.get("one", "agent 0");
  cache.set("one", "agent 5", "one 5", 50);
  expect(cache.get("one", "agent 0")).toBe("one 0");
  expect(cache.get("one", "agent 1")).toBeUndefined();
});

test("a value larger than a share is not kept, and neither is the one that it replaces", () => {
  const cache = ownerCache<string>(bounds);
  cache.set("one", "agent", "short", 10);
  cache.set("one", "agent", "long", 251);
  expect(cache.get("one", "agent")).toBeUndefined();
  expect(cache.heldBytes()).toBe(0);
});

test("a deleted value frees its bytes, and equal names of two owners do not collide", () => {
  const cache = ownerCache<string>(bounds);
  fill(cache, "one", 3, 50);
  fill(cache, "two", 3, 50);
  cache.delete("one", "agent 0");
  expect(cache.get("one", "agent 0")).toBeUndefined();
  expect(cache.get("two", "agent 1")).toBe("two 1");
  expect(cache.heldBytes()).toBe(250);
  cache.clear();
  expect(cache.heldBytes()).toBe(0);
});
