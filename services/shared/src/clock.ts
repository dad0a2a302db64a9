/** The time, passed in so that tests can tell it. */
export interface Clock {
  now(): Date;
  /** How far other sources of time contradict it, milliseconds. A clock without other sources has none. */
  doubtMs?(): number;
}

/** The clock of the process's host. For what concerns no other process: services share their database's (`db/clock.ts`). */
export const systemClock: Clock = { now: () => new Date() };

const DOUBT_MAX_MS = 24 * 60 * 60_000;

/** Whether the time is sure enough to delete what is past its age: a clock that jumped ahead makes everything look old. */
export function isSure(clock: Clock): boolean {
  return (clock.doubtMs?.() ?? 0) <= DOUBT_MAX_MS;
}
