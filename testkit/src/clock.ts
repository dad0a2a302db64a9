import type { Clock } from "@parley/shared/clock";

export interface FakeClock extends Clock {
  advance(ms: number): void;
  /** Makes other sources disagree by this much from now on. */
  contradict(ms: number): void;
}

/** A clock that stands still until a test moves it. */
export function fakeClock(start = new Date("2026-01-01T00:00:00.000Z")): FakeClock {
  let now = start.getTime();
  let doubtMs = 0;
  return {
    now: () => new Date(now),
    doubtMs: () => doubtMs,
    advance: (ms) => {
      now += ms;
    },
    contradict: (ms) => {
      doubtMs = ms;
    },
  };
}
