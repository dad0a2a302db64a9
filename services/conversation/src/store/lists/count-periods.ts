/** Minutes after midnight UTC, both inclusive; from > to wraps midnight. */
export interface TimeOfDay {
  from: number;
  to: number;
}

/**
 * Counts to add up: those of the periods of length `span` that begin from `firstDay` to `lastDay`, within these minutes
 * of each day.
 */
interface Periods {
  span: Span;
  firstDay: number;
  lastDay: number;
  fromMinute: number;
  toMinute: number;
}

/** Both inclusive. */
interface Moments {
  from: Date;
  to: Date;
}

/** A time range as whole minutes, which are counted, and the partial minutes at its ends, whose rows must be read. */
interface CountedRange {
  periods: Periods[];
  newer: Moments | null;
  older: Moments | null;
}

type Span = 1 | 8 | 64;
/** As stored in conversation_counts; each span is a multiple of the next. */
const SPANS: readonly Span[] = [64, 8, 1];
/** Before and after every conversation; multiples of every span. */
const ALWAYS = 64_000_000;
const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
const LAST_MINUTE = DAY_MINUTES - 1;

/**
 * How to count the conversations that began from `from` to `to`, both inclusive, at a time of day. Null when there is
 * nothing to count.
 */
export function countedRange(from: Date | null, to: Date | null, timeOfDay: TimeOfDay | null): CountedRange | null {
  if (from && to && from > to) return null;
  const first = from ? Math.ceil(from.getTime() / MINUTE_MS) : null;
  // The minute of `to` never counts as whole, because a column may store times more precisely than a Date.
  const end = to ? Math.floor(to.getTime() / MINUTE_MS) : null;
  if (from && to && end !== null && first !== null && end <= first) {
    return { periods: [], newer: { from, to }, older: null };
  }
  const windows = windowsOf(timeOfDay);
  const periods = wholeDays(first, end === null ? null : end - 1).flatMap((days) => intersect(days, windows));
  const newer = to && end !== null ? { from: new Date(end * MINUTE_MS), to } : null;
  const isBroken = from && first !== null && first * MINUTE_MS > from.getTime();
  const older = isBroken ? { from, to: new Date(first * MINUTE_MS - 1) } : null;
  return { periods, newer, older };
}

/** Converts whole minutes since 1970, null for no bound, to days and parts of days. */
function wholeDays(first: number | null, last: number | null): Periods[] {
  const day = (minute: number) => Math.floor(minute / DAY_MINUTES);
  const minuteOf = (minute: number) => minute - day(minute) * DAY_MINUTES;
  const fromMinute = first === null ? 0 : minuteOf(first);
  const toMinute = last === null ? LAST_MINUTE : minuteOf(last);
  let firstDay = first === null ? -ALWAYS : day(first);
  let lastDay = last === null ? ALWAYS - 1 : day(last);
  if (firstDay === lastDay) return [{ span: 1, firstDay, lastDay, fromMinute, toMinute }];
  const parts: Periods[] = [];
  if (fromMinute > 0) {
    parts.push({ span: 1, firstDay, lastDay: firstDay, fromMinute, toMinute: LAST_MINUTE });
    firstDay += 1;
  }
  if (toMinute < LAST_MINUTE) {
    parts.push({ span: 1, firstDay: lastDay, lastDay, fromMinute: 0, toMinute });
    lastDay -= 1;
  }
  return [...parts, ...cover(SPANS, firstDay, lastDay)];
}

/** Covers days, both inclusive, with the largest spans that fit. */
function cover([span = 1, ...smaller]: readonly Span[], from: number, to: number): Periods[] {
  if (from > to) return [];
  const begin = Math.ceil(from / span) * span;
  const end = Math.floor((to + 1) / span) * span;
  if (begin >= end) return cover(smaller, from, to);
  return [
    { span, firstDay: begin, lastDay: end - span, fromMinute: 0, toMinute: LAST_MINUTE },
    ...cover(smaller, from, begin - 1),
    ...cover(smaller, end, to),
  ];
}

function windowsOf(timeOfDay: TimeOfDay | null): TimeOfDay[] {
  if (timeOfDay === null) return [{ from: 0, to: LAST_MINUTE }];
  const { from, to } = timeOfDay;
  if (from <= to) return [{ from, to }];
  // Two windows that meet cover the whole day.
  if (from === to + 1) return [{ from: 0, to: LAST_MINUTE }];
  return [
    { from: 0, to },
    { from, to: LAST_MINUTE },
  ];
}

function intersect(days: Periods, windows: readonly TimeOfDay[]): Periods[] {
  return windows
    .map(({ from, to }) => ({
      ...days,
      fromMinute: Math.max(days.fromMinute, from),
      toMinute: Math.min(days.toMinute, to),
    }))
    .filter(({ fromMinute, toMinute }) => fromMinute <= toMinute);
}
