import { expect, test } from "bun:test";
import fc from "fast-check";
import { timeWindow } from "./time-window.ts";

const DAY_MS = 86_400_000;
const at = (time: string) => new Date(`2026-03-02T${time}Z`);
const micros = (time: Date) => time.getTime() * 1_000;

test("a window includes both of its ends", () => {
  const { holds } = timeWindow(at("10:00:00.000"), at("11:00:00.000"), null);
  const moments = ["09:59:59.999", "10:00:00.000", "11:00:00.000", "11:00:00.001"].map((time) => micros(at(time)));
  expect(moments.map(holds)).toEqual([false, true, true, false]);
});

test.each([
  [{ from: 600, to: 601 }, [false, true, true, false]],
  [{ from: 602, to: 599 }, [true, false, false, true]],
  [{ from: 600, to: 600 }, [false, true, false, false]],
])(
  "a time of day %j is inclusive of both minutes, and wraps midnight when it ends before it begins",
  (timeOfDay, held) => {
    const { holds } = timeWindow(null, null, timeOfDay);
    const moments = ["09:59:59.999", "10:00:00.000", "10:01:59.999", "10:02:00.000"].map((time) => micros(at(time)));
    expect(moments.map(holds)).toEqual(held);
  },
);

test("whether a span is in a window agrees with the moments in the span", () => {
  const moment = fc.nat(3 * 24 * 60).map((minute) => new Date(at("00:00:00").getTime() - DAY_MS + minute * 60_000));
  const bound = fc.option(moment);
  const minute = fc.nat(1_439);
  const timeOfDay = fc.option(fc.record({ from: minute, to: minute }));
  fc.assert(
    fc.property(bound, bound, timeOfDay, moment, moment, (from, to, window, one, other) => {
      const { holds, coverage } = timeWindow(from, to, window);
      const [first, last] = [one, other].map(micros).sort((a, b) => a - b) as [number, number];
      const ends = [holds(first), holds(last)];
      const covered = coverage(first, last);
      if (covered === "all") expect(ends).toEqual([true, true]);
      if (covered === "none") expect(ends).toEqual([false, false]);
    }),
  );
});

test("a span within a window is in it, one that overlaps it may be, and one beside it is not", () => {
  const [from, to] = [at("10:00:00"), at("11:00:00")];
  const { coverage } = timeWindow(from, to, null);
  expect(coverage(micros(from) - 5, micros(from))).toBe("some");
  expect(coverage(micros(to), micros(to) + 5)).toBe("some");
  expect(coverage(micros(from) - 5, micros(from) - 1)).toBe("none");
  expect(coverage(micros(to) + 1, micros(to) + 5)).toBe("none");
  expect(coverage(micros(from), micros(to))).toBe("all");
  expect(timeWindow(from, to, { from: 0, to: 1_439 }).coverage(micros(from), micros(to))).toBe("some");
});
