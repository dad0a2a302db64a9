import { expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { eventually } from "@parley/shared/testing/eventually";
import { createRefusals } from "../src/rate-limit/refusals.ts";

const REFUSED = new ServiceError("rate_limited", "Too many");
const url = "http://gateway/";

/** Ten refusals a second and two at once, none waits longer than a second, and the time is the test's. */
function manual() {
  let nowMs = 0;
  let timers: { atMs: number; then: () => void }[] = [];
  const refusals = createRefusals(
    { perSecond: 10, atOnce: 2, waitMaxMs: 1_000 },
    {
      nowMs: () => nowMs,
      after: (ms, then) => {
        timers.push({ atMs: nowMs + ms, then });
        return () => {};
      },
    },
  );
  const left: string[] = [];
  return {
    refuse: (name: string, of = "own_1", error: unknown = REFUSED, request = new Request(url)) =>
      void refusals.wait(of, error, request).then(() => left.push(name)),
    /** The answers that leave within that time. */
    pass: async (ms: number) => {
      nowMs += ms;
      const due = timers.filter(({ atMs }) => atMs <= nowMs);
      timers = timers.filter(({ atMs }) => atMs > nowMs);
      for (const { then } of due) then();
      // Those that are due together leave in several turns of the loop.
      for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
      return left.splice(0).join("");
    },
  };
}

test("an owner's refusals leave at a pace, and nobody else's wait for them", async () => {
  const { refuse, pass } = manual();
  for (const name of ["a", "b", "c", "d", "e", "f"]) refuse(name);
  refuse("x", "own_2");
  expect(await pass(0)).toBe("abcx");
  expect([await pass(100), await pass(100), await pass(100)]).toEqual(["d", "e", "f"]);
});

test("whatever is not a refusal does not wait, and does not count", async () => {
  const { refuse, pass } = manual();
  for (const name of ["a", "b", "c", "d"]) refuse(name, "own_1", new ServiceError("not_found", "No agent"));
  refuse("e", "own_1", new Error("broken"));
  refuse("f");
  expect(await pass(0)).toBe("abcdef");
});

test("however many are refused, none waits longer than the limit", async () => {
  const { refuse, pass } = manual();
  for (let at = 0; at < 1_000; at++) refuse(".");
  let left = (await pass(0)) + (await pass(1_000));
  // They leave in turns of the loop, between which the owner of so many rests.
  await eventually(async () => {
    left += await pass(0);
    expect(left.length).toBeGreaterThan(900);
  });
});

test("the body of a request that waits is dropped", async () => {
  const { refuse, pass } = manual();
  for (const name of ["a", "b", "c"]) refuse(name);
  let isCancelled = false;
  const cancel = () => {
    isCancelled = true;
  };
  const body = new ReadableStream({ cancel });
  const request = new Request(url, { method: "POST", headers: { "Content-Length": "9" }, body });
  refuse("d", "own_1", REFUSED, request);
  await pass(0);
  expect(isCancelled).toBe(true);
});
