/** The time, passed in so that tests control it. */
export interface Clock {
  now(): Date;
  /** How far other time sources disagree, in milliseconds. Absent for a clock without other sources. */
  doubtMs?(): number;
}

/** The host's clock, for times that stay within this process: services share their database's clock (`db/clock.ts`). */
export const systemClock: Clock = { now: () => new Date() };

const DOUBT_MAX_MS = 24 * 60 * 60_000;

/** Whether the time is reliable enough to delete old data: to a clock that jumped ahead everything looks old. */
export function isSure(clock: Clock): boolean {
  return (clock.doubtMs?.() ?? 0) <= DOUBT_MAX_MS;
}
