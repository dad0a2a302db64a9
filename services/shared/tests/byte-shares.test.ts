import { expect, test } from "bun:test";
import { type ByteShareSettings, byteShares, type Hold } from "@parley/shared/shares/byte-shares";
import fc from "fast-check";

const SETTINGS: ByteShareSettings = { what: "reads", totalBytes: 100, ownerBytes: 40, waitingMax: 3 };

/** Requests bytes and reports the outcome. */
function ask(shares: ReturnType<typeof byteShares>, ownerId: string, bytes: number) {
  const gone = new AbortController();
  const asked: { hold: Hold | null; error: unknown; leave(): void } = {
    hold: null,
    error: null,
    leave: () => gone.abort(),
  };
  shares.hold(ownerId, bytes, gone.signal).then(
    (hold) => {
      asked.hold = hold;
    },
    (error) => {
      asked.error = error;
    },
  );
  return asked;
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("an owner waits once its own share is full, and others do not", async () => {
  const shares = byteShares(SETTINGS);
  const first = ask(shares, "own_1", 30);
  const second = ask(shares, "own_1", 20);
  const other = ask(shares, "own_2", 20);
  await settled();
  expect([first.hold?.bytes, second.hold, other.hold?.bytes]).toEqual([30, null, 20]);
  first.hold?.release();
  await settled();
  expect(second.hold?.bytes).toBe(20);
  expect(shares.heldBytes()).toBe(40);
});

test("owners take turns, however many requests one of them has waiting", async () => {
  const shares = byteShares({ ...SETTINGS, ownerBytes: 100 });
  const full = ask(shares, "own_0", 100);
  const greedy = [1, 2, 3].map(() => ask(shares, "own_1", 50));
  const modest = ask(shares, "own_2", 50);
  await settled();
  full.hold?.release();
  await settled();
  expect([...greedy, modest].map(({ hold }) => hold !== null)).toEqual([true, false, false, true]);
});

test("a request larger than the share or the budget is served while nothing else is held", async () => {
  const shares = byteShares(SETTINGS);
  const small = ask(shares, "own_1", 1);
  const huge = ask(shares, "own_1", 1_000);
  await settled();
  expect(huge.hold).toBeNull();
  small.hold?.release();
  await settled();
  expect(huge.hold?.bytes).toBe(1_000);
});

test("small requests of others do not overtake one that waits for the process's budget", async () => {
  const shares = byteShares(SETTINGS);
  const held = ["own_1", "own_2"].map((owner) => ask(shares, owner, 40));
  const large = ask(shares, "own_3", 40);
  const late = ask(shares, "own_4", 5);
  await settled();
  expect([large.hold, late.hold]).toEqual([null, null]);
  held[0]?.hold?.release();
  await settled();
  expect([large.hold?.bytes, late.hold?.bytes]).toEqual([40, 5]);
});

test("a hold grows only as far as its owner's share and the process's budget allow", async () => {
  const shares = byteShares({ ...SETTINGS, totalBytes: 60 });
  const one = await shares.hold("own_1", 10);
  const two = await shares.hold("own_2", 30);
  expect([one.grow(20), one.grow(5), two.grow(15)]).toEqual([true, false, false]);
  expect(shares.heldBytes()).toBe(60);
  one.release();
  expect([one.grow(1), two.grow(10), shares.heldBytes()]).toEqual([false, true, 40]);
});

test("a request that may not wait is granted only if it fits and no other request of its owner waits", async () => {
  const shares = byteShares(SETTINGS);
  const first = shares.tryHold("own_1", 30);
  expect([first?.bytes, shares.tryHold("own_1", 20), shares.tryHold("own_2", 20)?.bytes]).toEqual([30, null, 20]);
  const waiting = ask(shares, "own_1", 20);
  await settled();
  expect([waiting.hold, shares.tryHold("own_1", 5)]).toEqual([null, null]);
  first?.release();
  await settled();
  expect([waiting.hold?.bytes, shares.tryHold("own_1", 5)?.bytes]).toEqual([20, 5]);
});

test("an owner with too many waiting requests is told to try again", async () => {
  const shares = byteShares(SETTINGS);
  const asked = [1, 2, 3, 4, 5].map(() => ask(shares, "own_1", 40));
  await settled();
  expect(asked.map(({ error }) => error !== null)).toEqual([false, false, false, false, true]);
  expect(asked[4]?.error).toMatchObject({
    kind: "rate_limited",
    detail: "This account has too many reads in progress. Try again.",
    retryAfterMs: 1_000,
  });
});

test("a request that waits too long is told to try again", async () => {
  const shares = byteShares({ ...SETTINGS, waitMs: 1 });
  const held = await shares.hold("own_1", 40);
  await expect(shares.hold("own_1", 10)).rejects.toMatchObject({ kind: "rate_limited", retryAfterMs: 1_000 });
  held.release();
  expect((await shares.hold("own_1", 10)).bytes).toBe(10);
});

test("where waiting is not allowed, a request is granted at once or refused", async () => {
  const shares = byteShares({ ...SETTINGS, waitingMax: 0 });
  const held = await shares.hold("own_1", 40);
  await expect(shares.hold("own_1", 1)).rejects.toMatchObject({ kind: "rate_limited" });
  expect((await shares.hold("own_2", 40)).bytes).toBe(40);
  held.release();
  expect((await shares.hold("own_1", 1)).bytes).toBe(1);
});

test("bytes that a hold gives up go to a waiting request", async () => {
  const shares = byteShares(SETTINGS);
  const held = await shares.hold("own_1", 40);
  const next = ask(shares, "own_1", 30);
  held.shrink(50);
  await settled();
  expect([held.bytes, next.hold]).toEqual([40, null]);
  held.shrink(10);
  await settled();
  expect([held.bytes, next.hold?.bytes, shares.heldBytes()]).toEqual([10, 30, 40]);
  held.release();
  held.shrink(0);
  expect(shares.heldBytes()).toBe(30);
});

test("a request whose client leaves while it waits holds nothing and blocks nobody", async () => {
  const shares = byteShares(SETTINGS);
  const held = [ask(shares, "own_1", 40), ask(shares, "own_2", 40)];
  const large = ask(shares, "own_3", 40);
  const small = ask(shares, "own_4", 5);
  await settled();
  large.leave();
  await settled();
  expect(String(large.error)).toContain("cancelled");
  expect(small.hold?.bytes).toBe(5);
  for (const { hold } of [...held, small]) hold?.release();
  expect(shares.heldBytes()).toBe(0);
});

test("under any sequence of requests and releases, budgets hold, every request is served, and nothing stays held", async () => {
  const requests = fc.array(fc.record({ owner: fc.nat(3), bytes: fc.nat(60), leaves: fc.boolean() }), {
    maxLength: 40,
  });
  await fc.assert(
    fc.asyncProperty(requests, async (given) => {
      const shares = byteShares({ ...SETTINGS, waitingMax: 100 });
      const asked = given.map(({ owner, bytes }) => ask(shares, `own_${owner}`, bytes));
      for (const [at, { leaves }] of given.entries()) if (leaves) asked[at]?.leave();
      const open = new Set(asked);
      while (open.size > 0) {
        await settled();
        const served = [...open].filter(({ hold, error }) => hold !== null || error !== null);
        expect(served.length).toBeGreaterThan(0);
        const held = [...open].reduce((sum, { hold }) => sum + (hold?.bytes ?? 0), 0);
        expect(shares.heldBytes()).toBe(held);
        expect(held).toBeLessThanOrEqual(SETTINGS.totalBytes);
        for (const each of served) {
          open.delete(each);
          each.hold?.release();
        }
      }
      expect(shares.heldBytes()).toBe(0);
    }),
  );
});
