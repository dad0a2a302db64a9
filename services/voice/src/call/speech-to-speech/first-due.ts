import type { CallClock } from "../call-clock.ts";

/** When something is due, null while it is not; and the function to run then, after which it is no longer due. */
export type Timer = [at: number | null, fire: () => void];

/** Fires whichever of several timers is due first. */
export interface FirstDue {
  /** Waits for the timer that is first now. */
  reset(): void;
  stop(): void;
}

/** @param contained guards what a timer does */
export function firstDue(
  clock: CallClock,
  timers: () => Timer[],
  contained: (fire: () => void) => () => void,
): FirstDue {
  let stop = () => {};
  return {
    reset: () => {
      stop();
      const due = timers().filter((timer): timer is [number, () => void] => timer[0] !== null);
      const [at, fire] = due.toSorted(([one], [other]) => one - other)[0] ?? [null, () => {}];
      if (at !== null) stop = clock.after(Math.max(0, at - clock.now()), contained(fire));
    },
    stop: () => stop(),
  };
}
