import { afterEach, expect, test } from "bun:test";
import { fakeClock } from "@parley/testkit/clock";
import { eventually } from "@parley/testkit/eventually";
import type { Database } from "../db/database.ts";
import { silentLogger } from "../log.ts";
import { type Poll, poll } from "./poll.ts";

let polling: Poll;
let answers: ((queues: string[]) => void)[];
afterEach(async () => {
  for (const answer of answers) answer([]);
  await polling.stop();
});

/** A poll that asks only when it is told to, the parameters of its statements, and the queues that have something to claim. */
function startPoll(queues: readonly string[]) {
  const asked: unknown[][] = [];
  const claimable: string[] = [];
  answers = [];
  const db = (_: TemplateStringsArray, ...given: unknown[]) => {
    asked.push(given);
    const { promise, resolve } = Promise.withResolvers<{ queue: string }[]>();
    answers.push((found) => resolve(found.map((queue) => ({ queue }))));
    return promise;
  };
  polling = poll({
    db: db as unknown as Database,
    queues,
    log: silentLogger,
    clock: fakeClock(),
    pollMs: 3_600_000,
    onClaimable: (queue) => claimable.push(queue),
  });
  return { asked, claimable };
}

test("one statement asks for all queues, and only those with something to claim are told", async () => {
  const { asked, claimable } = startPoll(["first", "second", "third"]);
  expect(asked).toEqual([[["first", "second", "third"], expect.any(Date)]]);
  answers[0]?.(["third"]);
  await eventually(() => expect(claimable).toEqual(["third"]));
  expect(asked).toHaveLength(1);
});

test("jobs that were missed in a gap are looked for at once, even while an earlier question stays unanswered", async () => {
  const { asked, claimable } = startPoll(["first"]);
  polling.ask();
  expect(asked).toHaveLength(2);
  answers[1]?.(["first"]);
  await eventually(() => expect(claimable).toEqual(["first"]));
});

test("a poll stops once its questions are answered, and asks nothing afterwards", async () => {
  const { asked } = startPoll(["first"]);
  polling.ask();
  let isStopped = false;
  const stopping = polling.stop().then(() => {
    isStopped = true;
  });
  polling.ask();
  answers[1]?.([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect([asked.length, isStopped]).toEqual([2, false]);
  answers[0]?.([]);
  await stopping;
});
