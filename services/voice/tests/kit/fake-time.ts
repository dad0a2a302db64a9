import type { PassingTime } from "@parley/shared/shares/passing-time";

export interface FakeTime extends PassingTime {
  /** Lets this much time pass: due work runs in order, and promises settle in between. */
  pass(ms: number): Promise<void>;
}

/**
 * Time that passes only when a test says so.
 * @param wait lets the effects of due work happen
 */
export function fakeTime(wait = settle): FakeTime {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after: (ms, run) => {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    pass: async (ms) => {
      const until = now + ms;
      for (;;) {
        await wait();
        const due = timers.filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers = timers.filter((timer) => timer !== due);
        now = Math.max(now, due.at);
        due.run();
      }
      now = until;
      await wait();
    },
  };
}

/** Lets all work continue that waits only for promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Does the same for work that waits only for microtasks, and is much faster. */
export async function settleMicrotasks(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await null;
}
