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

/** Shares with a time that the test tells, and requests of one owner for 20 bytes each. */
function timed(settings: Partial<ByteShareSettings>, requests: number) {
  const time = { now: 0, later: [] as (() => void)[] };
  const after = (_: number, then: () => void) => {
    time.later.push(then);
    return () => {};
  };
  const shares = byteShares({ ...SETTINGS, waitingMax: 10, ...settings }, { nowMs: () => time.now, after });
  const asked = Array.from({ length: requests }, () => ask(shares, "own_1", 20));
  const begun = async () => {
    await settled();
    return asked.filter(({ hold }) => hold !== null).length;
  };
  return { time, shares, asked, begun };
}

test("an owner with a lasting backlog has less while others ask too", async () => {
  const { time, shares, asked, begun } = timed({ backlogBytes: 20 }, 8);
  expect(await begun()).toBe(2);
  time.now = 99;
  const other = ask(shares, "own_2", 20);
  asked[0]?.hold?.release();
  expect(await begun()).toBe(3);
  time.now = 100;
  asked[1]?.hold?.release();
  expect(await begun()).toBe(3);
  asked[2]?.hold?.release();
  expect(await begun()).toBe(4);
  expect(other.hold?.bytes).toBe(20);
  // Nobody else for a second: it has all of its share again.
  const last = ask(shares, "own_1", 20);
  time.now = 1_100;
  asked[3]?.hold?.release();
  expect(await begun()).toBe(6);
  expect(last.hold).toBeNull();
});

test("requests of a lasting backlog begin at intervals of so many times their time, but of so many milliseconds at most", async () => {
  const { time, shares, asked, begun } = timed(
    { ownerBytes: 60, backlogBytes: 60, backlogSpacing: { times: 2, maxMs: 25 } },
    10,
  );
  const other = ask(shares, "own_2", 20);
  const at = (ms: number) => {
    time.now = ms;
    for (const look of time.later.splice(0)) look();
    return begun();
  };
  expect(await begun()).toBe(3);
  time.now = 100;
  asked[0]?.hold?.release();
  asked[1]?.hold?.release();
  // The last one began long ago, so one may begin.
  expect(await begun()).toBe(4);
  time.now = 105;
  asked[3]?.hold?.release();
  expect(await begun()).toBe(4);
  expect(await at(109)).toBe(4);
  expect(await at(110)).toBe(5);
  // The next one lasts.
  expect(await at(134)).toBe(5);
  expect(await at(135)).toBe(6);
  asked[5]?.hold?.release();
  time.now = 136;
  asked[4]?.hold?.release();
  // An owner without a backlog is not kept waiting.
  ask(shares, "own_3", 20);
  const third = ask(shares, "own_3", 20);
  await settled();
  expect(third.hold?.bytes).toBe(20);
  expect(other.hold?.bytes).toBe(20);
});

test("an owner keeps its share while another has a longer backlog", async () => {
  const { time, shares, asked, begun } = timed({ backlogBytes: 20, totalBytes: 1_000 }, 6);
  const few = [1, 2, 3].map(() => ask(shares, "own_2", 20));
  await settled();
  time.now = 100;
  few[0]?.hold?.release();
  asked[0]?.hold?.release();
  expect(await begun()).toBe(2);
  expect(few.map(({ hold }) => hold !== null)).toEqual([true, true, true]);
});

test("an owner has more while nobody else is there, and no more of it once others are", async () => {
  const { shares, asked, begun } = timed({ aloneBytes: 60, totalBytes: 1_000 }, 6);
  expect(await begun()).toBe(3);
  ask(shares, "own_2", 20);
  asked[0]?.hold?.release();
  expect(await begun()).toBe(3);
  asked[1]?.hold?.release();
  expect(await begun()).toBe(4);
});

test("a burst that does not last is no backlog", async () => {
  const { time, shares } = timed({ backlogBytes: 20 }, 0);
  ask(shares, "own_2", 20);
  for (let round = 0; round < 3; round++) {
    const asked = [1, 2, 3].map(() => ask(shares, "own_1", 20));
    await settled();
    time.now += 90;
    asked[0]?.hold?.release();
    await settled();
    expect(asked.map(({ hold }) => hold !== null)).toEqual([true, true, true]);
    for (const { hold } of asked) hold?.release();
  }
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
    detail: "This account has too many reads in progress, try again",
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
