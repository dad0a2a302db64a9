import { useSyncExternalStore } from "react";
import { LOCALE } from "./locale.ts";
import { onFirstUse } from "./numbers.ts";

const dateTime = onFirstUse(() => new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "short" }));
const toTheSecond = onFirstUse(() => new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium", timeStyle: "medium" }));
const timeOfDay = onFirstUse(() => new Intl.DateTimeFormat(LOCALE, { timeStyle: "medium" }));
const day = onFirstUse(() => new Intl.DateTimeFormat(LOCALE, { dateStyle: "medium" }));
const distance = onFirstUse(() => new Intl.RelativeTimeFormat(LOCALE, { numeric: "auto" }));
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;
/** From this age on, the date is clearer than a number of days. */
const RELATIVE_DAYS_MAX = 6;

/**
 * A moment in the viewer's zone, in UTC on hover.
 * @param at in ISO 8601
 * @param seconds whether seconds are shown
 * @param on a moment of the day that the page names: on that day, the time of day is enough
 */
export function Time({
  at,
  relative = false,
  seconds = false,
  on,
}: {
  at: string;
  relative?: boolean;
  seconds?: boolean;
  on?: string;
}) {
  const date = new Date(at);
  const isThatDay = on !== undefined && new Date(on).toDateString() === date.toDateString();
  const absolute = isThatDay ? timeOfDay : seconds ? toTheSecond : dateTime;
  const read = () => (relative ? sinceOrDate(date, new Date()) : absolute().format(date));
  const shown = useSyncExternalStore(relative ? followTime : neverChanges, read, read);
  return (
    <time
      dateTime={at}
      title={`${date.toISOString().replace("T", " ").slice(0, 19)} UTC`}
      className="relative whitespace-nowrap"
    >
      {shown}
    </time>
  );
}

const EVERY_MS = 10_000;
const followers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Time passes also for a list that does not change. One timer serves all times of a page. */
function followTime(passed: () => void): () => void {
  followers.add(passed);
  timer ??= setInterval(() => {
    for (const follower of followers) follower();
  }, EVERY_MS);
  return () => {
    followers.delete(passed);
    if (followers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function neverChanges(): () => void {
  return () => {};
}

function sinceOrDate(date: Date, now: Date): string {
  const seconds = (date.getTime() - now.getTime()) / 1000;
  if (Math.abs(seconds) > (RELATIVE_DAYS_MAX + 0.5) * 86_400) return day().format(date);
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  return Math.abs(seconds) < 5 ? "just now" : distance().format(Math.round(seconds / length), unit);
}
