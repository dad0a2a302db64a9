import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { DeliveryState } from "../store/deliveries.ts";
import type { RetryScheduleName } from "../store/destinations.ts";
import { afterAttempt, cancelled, newDelivery, RETRY_WAITS, resent } from "./state.ts";

const RETRY_MS = 10_000;
const ATTEMPTS_MAX = 4;
const START = new Date("2026-01-01T00:00:00.000Z");
const later = (date: Date, ms: number) => new Date(date.getTime() + ms);

/** A step in the life of a delivery, `afterMs` after the previous one. */
const happening = fc.record({
  afterMs: fc.integer({ min: 0, max: 100_000 }),
  what: fc.constantFrom("attempt", "crash", "cancel", "resend"),
  succeeds: fc.boolean(),
  takesMs: fc.integer({ min: 0, max: 10_000 }),
});
type Happening = typeof happening extends fc.Arbitrary<infer T> ? T : never;

interface Story {
  state: DeliveryState;
  now: Date;
  /** The attempts that were settled: their times, and whether they were made since the last resend. */
  made: { startedAt: Date; endedAt: Date; sending: number }[];
  /** How often it was resent. */
  sending: number;
}

/** Like the dispatcher: an attempt is made of what is due, and an attempt lost in a crash changes nothing. */
function tell(story: Story, { afterMs, what, succeeds, takesMs }: Happening): Story {
  const { state, made, sending } = story;
  const now = later(story.now, afterMs);
  if (what === "cancel") {
    return { ...story, now, state: state.status === "pending" ? { ...state, ...cancelled() } : state };
  }
  if (what === "resend") {
    if (state.status === "pending") return { ...story, now };
    return { made, now, sending: sending + 1, state: { ...state, ...resent("standard", now) } };
  }
  const isDue = state.nextAttemptAt !== null && state.nextAttemptAt <= now;
  if (!isDue || what === "crash") return { ...story, now };
  const endedAt = later(now, takesMs);
  return {
    sending,
    now: endedAt,
    made: [...made, { startedAt: now, endedAt, sending }],
    state: afterAttempt(state, { succeeded: succeeds, endedAt }, "standard", RETRY_MS),
  };
}

/** The lives of deliveries, step by step. */
const stories = fc.array(happening, { maxLength: 60 }).map((happenings) => {
  const story: Story[] = [{ state: newDelivery("standard", START), now: START, made: [], sending: 0 }];
  for (const each of happenings) story.push(tell(story.at(-1) as Story, each));
  return story;
});

describe("whatever happens to a delivery", () => {
  test("it has a next attempt exactly while it is pending", () => {
    fc.assert(
      fc.property(stories, (story) => {
        for (const { state } of story) {
          expect(state.nextAttemptAt !== null).toBe(state.status === "pending");
          expect(state.attemptsLeft > 0).toBe(state.status === "pending");
          expect(state.attemptsLeft).toBeLessThanOrEqual(ATTEMPTS_MAX);
        }
      }),
    );
  });

  test("it ends delivered or failed within four more attempts, from every reachable state", () => {
    fc.assert(
      fc.property(stories, fc.integer({ min: 1, max: ATTEMPTS_MAX + 1 }), (story, successAt) => {
        let { state } = story.at(-1) as Story;
        let attempts = 0;
        while (state.nextAttemptAt) {
          const succeeded = ++attempts === successAt;
          state = afterAttempt(state, { succeeded, endedAt: state.nextAttemptAt }, "standard", RETRY_MS);
        }
        expect(attempts).toBeLessThanOrEqual(ATTEMPTS_MAX);
        expect(state.status).not.toBe("pending");
      }),
    );
  });

  test("each sending makes at most four attempts, each at least 10 s after the end of the previous one", () => {
    fc.assert(
      fc.property(stories, (story) => {
        const { state, made } = story.at(-1) as Story;
        expect(state.attempts).toBe(made.length);
        for (const attempts of Map.groupBy(made, ({ sending }) => sending).values()) {
          expect(attempts.length).toBeLessThanOrEqual(ATTEMPTS_MAX);
          for (const [at, { startedAt }] of attempts.entries()) {
            const before = attempts[at - 1];
            if (before) expect(startedAt.getTime() - before.endedAt.getTime()).toBeGreaterThanOrEqual(RETRY_MS);
          }
        }
      }),
    );
  });

  test("once delivered it stays delivered until it is resent", () => {
    fc.assert(
      fc.property(stories, (story) => {
        for (const [at, { state, sending }] of story.entries()) {
          const before = story[at - 1];
          if (before?.state.status === "delivered" && before.sending === sending)
            expect(state.status).toBe("delivered");
        }
      }),
    );
  });
});

describe("an attempt that was in progress when its delivery was cancelled", () => {
  const state = { ...newDelivery("standard", START), ...cancelled() };

  test("makes it delivered when it succeeds", () => {
    expect(afterAttempt(state, { succeeded: true, endedAt: START }, "standard", RETRY_MS)).toEqual({
      status: "delivered",
      attempts: 1,
      attemptsLeft: 0,
      nextAttemptAt: null,
    });
  });

  test("leaves it cancelled when it fails", () => {
    expect(afterAttempt(state, { succeeded: false, endedAt: START }, "standard", RETRY_MS)).toEqual({
      ...state,
      attempts: 1,
    });
  });
});

describe("a delivery whose attempts all fail", () => {
  /** The seconds between its attempts. */
  function waitsOf(schedule: RetryScheduleName, scheduleOf = (_attempts: number) => schedule): number[] {
    const waits: number[] = [];
    let state = newDelivery(schedule, START);
    while (state.nextAttemptAt) {
      const endedAt = state.nextAttemptAt;
      state = afterAttempt(state, { succeeded: false, endedAt }, scheduleOf(state.attempts), RETRY_MS);
      if (state.nextAttemptAt) waits.push((state.nextAttemptAt.getTime() - endedAt.getTime()) / 1000);
    }
    expect(state.status).toBe("failed");
    return waits;
  }

  test("is attempted four times, ten seconds apart, on the standard schedule", () => {
    expect(waitsOf("standard")).toEqual([10, 10, 10]);
  });

  test("is attempted eight times over 24 hours, ever further apart, on the extended schedule", () => {
    const waits = waitsOf("extended");
    expect(waits).toEqual([10, 300, 1_500, 5_400, 14_400, 28_800, 36_000]);
    const day = 24 * 60 * 60;
    expect(Math.abs(waits.reduce((sum, each) => sum + each) - day)).toBeLessThanOrEqual(10);
  });

  test("keeps its number of attempts when its destination gets another schedule, and waits as that one does", () => {
    expect(waitsOf("standard", () => "extended")).toEqual([14_400, 28_800, 36_000]);
    expect(waitsOf("extended", () => "standard")).toEqual(Array(RETRY_WAITS.extended.length).fill(10));
  });

  test("starts anew on the schedule that its destination has when it is resent", () => {
    expect(resent("extended", START)).toMatchObject({ status: "pending", attemptsLeft: 8, nextAttemptAt: START });
    expect(resent("standard", START)).toMatchObject({ attemptsLeft: 4 });
  });
});
