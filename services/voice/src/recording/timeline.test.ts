import { expect, test } from "bun:test";
import fc from "fast-check";
import { FRAME_MS, FRAME_SAMPLES, type Pcm } from "../audio/pcm.ts";
import { timeline } from "./timeline.ts";

/** A frame of one value, which identifies it later. */
const frame = (value: number): Pcm => new Int16Array(FRAME_SAMPLES).fill(value);

function listening(startedAt = 0) {
  const pairs: [number, number][] = [];
  const line = timeline(startedAt, (user, agent) => pairs.push([user[0] ?? 0, agent[0] ?? 0]));
  return { line, pairs };
}

test("what both say at the same time is aligned", () => {
  const { line, pairs } = listening(1_000);
  for (let at = 1; at <= 100; at++) {
    line.user(frame(1_000 + at), 1_000 + at * FRAME_MS);
    line.agent(frame(2_000 + at), 1_000 + at * FRAME_MS + 3, 0);
  }
  line.end(1_000 + 100 * FRAME_MS);
  expect(pairs).toEqual(Array.from({ length: 100 }, (_, at) => [1_001 + at, 2_001 + at]));
});

test("a party that sends nothing is silent, and back in sync when it continues", () => {
  const { line, pairs } = listening();
  for (let at = 1; at <= 200; at++) {
    line.user(frame(1_000), at * FRAME_MS);
    if (at <= 50 || at > 150) line.agent(frame(2_000), at * FRAME_MS, 0);
  }
  line.end(200 * FRAME_MS);
  expect(pairs.length).toBeWithin(200, 202);
  const silent = pairs.flatMap(([, agent], at) => (agent === 0 ? [at] : []));
  expect(silent.length).toBeWithin(85, 103);
  expect(silent[0]).toBe(50);
  expect(silent.at(-1)).toBeWithin(140, 152);
});

test("speech delayed by network congestion is kept, and the silence around it is dropped", () => {
  const { line, pairs } = listening();
  for (let at = 1; at <= 50; at++) line.user(frame(0), at * FRAME_MS);
  for (let late = 0; late < 40; late++) line.user(frame(1_000 + late), 1_000);
  for (let at = 51; at <= 200; at++) line.user(frame(0), at * FRAME_MS);
  line.end(200 * FRAME_MS);
  expect(pairs.map(([user]) => user).filter((value) => value >= 1_000)).toEqual(
    Array.from({ length: 40 }, (_, late) => 1_000 + late),
  );
  expect(pairs.length).toBeWithin(200, 207);
});

test("audio sent ahead is placed where it is heard, and what is cut off is absent", () => {
  const { line, pairs } = listening();
  for (let at = 1; at <= 100; at++) {
    const now = at * FRAME_MS;
    line.user(frame(1_000), now);
    if (at === 20) for (let sent = 1; sent <= 10; sent++) line.agent(frame(2_000 + sent), now, sent * FRAME_MS);
    if (at > 20 && at <= 40) line.agent(frame(2_000 + at - 10), now, 10 * FRAME_MS);
    if (at === 40) line.cut(now);
  }
  line.end(100 * FRAME_MS);
  const spoken = pairs.flatMap(([, agent], at) => (agent > 0 ? [[at, agent]] : []));
  expect(spoken).toEqual(Array.from({ length: spoken.length }, (_, at) => [21 + at, 2_001 + at]));
  expect(spoken.length).toBeWithin(18, 21);
});

test("whatever arrives when, nothing is out of order and nothing is far from its time", () => {
  const arrivals = fc.array(
    fc.record({ party: fc.constantFrom("user" as const, "agent" as const), waitMs: fc.integer({ min: 0, max: 400 }) }),
    { maxLength: 300 },
  );
  fc.assert(
    fc.property(arrivals, (events) => {
      const { line, pairs } = listening();
      const cameAt: number[] = [0];
      let now = 0;
      for (const { party, waitMs } of events) {
        now += waitMs;
        if (party === "user") line.user(frame(64 + cameAt.length), now);
        else line.agent(frame(64 + cameAt.length), now, 0);
        cameAt.push(now);
      }
      line.end(now);
      for (const side of [0, 1] as const) {
        const values = pairs.map((pair) => pair[side]);
        const spoken = values.filter((value) => value > 0);
        expect(spoken).toEqual(spoken.toSorted((one, other) => one - other));
        for (const [at, value] of values.entries()) {
          if (value === 0) continue;
          const lateMs = (cameAt[value - 64] ?? 0) - at * FRAME_MS;
          expect(lateMs).toBeLessThanOrEqual(320);
          expect(lateMs).toBeGreaterThanOrEqual(-101 * FRAME_MS);
        }
      }
      expect(pairs.length * FRAME_MS).toBeGreaterThan(now - FRAME_MS);
    }),
  );
});
