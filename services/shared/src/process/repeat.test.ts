import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { repeat } from "./repeat.ts";

test("work is repeated, also after a failure, and never twice at a time", async () => {
  const failures: unknown[] = [];
  let [begun, underWay, most] = [0, 0, 0];
  const { now, stop } = repeat(
    async () => {
      begun++;
      most = Math.max(most, ++underWay);
      for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
      underWay--;
      if (begun === 1) throw new Error("first");
    },
    1,
    (err) => failures.push(err),
  );
  now();
  now();
  await eventually(() => expect(begun).toBeGreaterThan(3));
  await stop();
  expect({ failures, most, underWay }).toEqual({ failures: [new Error("first")], most: 1, underWay: 0 });
});

test("work that was stopped has ended and does not begin again", async () => {
  let begun = 0;
  const ended = Promise.withResolvers<void>();
  const { now, stop } = repeat(
    async () => {
      begun++;
      await ended.promise;
    },
    3_600_000,
    () => {},
  );
  now();
  let isStopped = false;
  const stopping = stop().then(() => {
    isStopped = true;
  });
  await new Promise(setImmediate);
  expect(isStopped).toBeFalse();
  ended.resolve();
  await stopping;
  now();
  expect(begun).toBe(1);
});
