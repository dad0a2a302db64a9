import type { BatchSettings } from "../store/call-batches.ts";

const DAY_MINUTES = 24 * 60;

/**
 * When calls may begin next, or null if they may begin now. If the clocks change in the meantime, the caller asks again at that time.
 * @param window null if calls may begin at any time
 */
export function opensAt(window: BatchSettings["window"], now: Date): Date | null {
  if (window === null) return null;
  const minute = minuteOfDay(now, window.timezone);
  const { fromMinute, toMinute } = window;
  const isOpen =
    fromMinute < toMinute ? minute >= fromMinute && minute < toMinute : minute >= fromMinute || minute < toMinute;
  if (isOpen) return null;
  const minutes = (fromMinute - minute + DAY_MINUTES) % DAY_MINUTES;
  return new Date(Math.floor(now.getTime() / 60_000) * 60_000 + minutes * 60_000);
}

function minuteOfDay(now: Date, timeZone: string): number {
  const format = new Intl.DateTimeFormat("en-US", { timeZone, hourCycle: "h23", hour: "numeric", minute: "numeric" });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, Number(value)]));
  return (parts.get("hour") ?? 0) * 60 + (parts.get("minute") ?? 0);
}
