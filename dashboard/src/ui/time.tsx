const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });
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
 * @param on a moment of the day that the page names: on that day, the time of day is enough
 */
export function Time({ at, relative = false, on }: { at: string; relative?: boolean; on?: string }) {
  const date = new Date(at);
  const isThatDay = on !== undefined && DATE.format(new Date(on)) === DATE.format(date);
  const absolute = isThatDay ? TIME : DATE_TIME;
  const shown = relative ? sinceOrDate(date, new Date()) : absolute.format(date);
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

function sinceOrDate(date: Date, now: Date): string {
  const seconds = (date.getTime() - now.getTime()) / 1000;
  if (Math.abs(seconds) > (RELATIVE_DAYS_MAX + 0.5) * 86_400) return DATE.format(date);
  const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ["second", 1];
  return Math.abs(seconds) < 5 ? "just now" : RELATIVE.format(Math.round(seconds / length), unit);
}
