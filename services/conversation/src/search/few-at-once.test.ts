import { expect, test } from "bun:test";
import { fewAtOnce } from "./few-at-once.ts";

const NEVER = new AbortController().signal;

/** Searches that end when the test says so. */
function heldSearches() {
  const inTurn = fewAtOnce();
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const search = (ownerId: string, name: string, gone = NEVER) =>
    inTurn(ownerId, gone, () => {
      begun.push(name);
      const { promise, resolve } = Promise.withResolvers<string>();
      ends.push(() => resolve(name));
      return promise;
    });
  const endAll = () => {
    for (const end of ends.splice(0)) end();
  };
  return { search, begun, endAll };
}

test("two searches of an owner run at once, the others in their turn; other owners' are none of theirs", async () => {
  const { search, begun, endAll } = heldSearches();
  const found = ["a", "b", "c"].map((name) => search("own_1", name));
  const other = search("own_2", "other");
  await Promise.resolve();
  expect(begun).toEqual(["a", "b", "other"]);
  endAll();
  expect(await Promise.all([found[0], found[1], other])).toEqual(["a", "b", "other"]);
  await Promise.resolve();
  expect(begun).toEqual(["a", "b", "other", "c"]);
  endAll();
  expect(await found[2]).toBe("c");
});

test("when twenty of an owner wait, the next is refused for a second, and nobody else's", async () => {
  const { search } = heldSearches();
  for (let at = 0; at < 22; at++) void search("own_1", "held");
  await Promise.resolve();
  await expect(search("own_1", "too many")).rejects.toMatchObject({ kind: "rate_limited", retryAfterMs: 1_000 });
  void search("own_2", "other");
});

test("a search whose client has left is not made when its turn comes", async () => {
  const { search, begun, endAll } = heldSearches();
  const leaving = new AbortController();
  void search("own_1", "a");
  void search("own_1", "b");
  const left = search("own_1", "left", leaving.signal);
  await Promise.resolve();
  leaving.abort();
  endAll();
  await expect(left).rejects.toMatchObject({ name: "AbortError" });
  expect(begun).toEqual(["a", "b"]);
});
