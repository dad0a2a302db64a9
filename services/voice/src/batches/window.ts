import type { BatchSettings } from "../store/call-batches.ts";

/**
 * When calls may begin next, or null if they may begin now. If clocks skip the first minute, that is as much later as they skip.
 * @param window null if calls may begin at any time
 */
export function opensAt(window: BatchSettings["window"], now: Date): Date | null {
  if (window === null) return null;
  const { fromMinute, toMinute, timezone } = window;
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone);
  const minute = local.hour * 60 + local.minute;
  const isOpen =
    fromMinute < toMinute ? minute >= fromMinute && minute < toMinute : minute >= fromMinute || minute < toMinute;
  if (isOpen) return null;
  const today = local.toPlainDate().toPlainDateTime({ hour: Math.floor(fromMinute / 60), minute: fromMinute % 60 });
  // On the day that clocks go back, the first minute may come twice.
  const times = [
    today.toZonedDateTime(timezone),
    today.toZonedDateTime(timezone, { disambiguation: "later" }),
    today.add({ days: 1 }).toZonedDateTime(timezone),
  ].map(({ epochMilliseconds }) => new Date(epochMilliseconds));
  return times.find((time) => time > now) ?? now;
}
