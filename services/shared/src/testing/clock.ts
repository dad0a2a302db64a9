import type { Clock } from "../clock.ts";

export interface FakeClock extends Clock {
  advance(ms: number): void;
}

/** A clock that stands still until told. */
export function fakeClock(start = new Date("2026-01-01T00:00:00.000Z")): FakeClock {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    advance: (ms) => {
      now += ms;
    },
  };
}
