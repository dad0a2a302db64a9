import type { TimeOfDay } from "../lists/count-periods.ts";

/** The times that a filter accepts, in microseconds since 1970. */
interface TimeWindow {
  holds(moment: number): boolean;
  /** How many of the moments from `first` to `last`, both inclusive, it can contain. */
  coverage(first: number, last: number): "all" | "some" | "none";
}

const MINUTE = 60_000_000;
const DAY_MINUTES = 1_440;

/** @param from inclusive @param to inclusive */
export function timeWindow(from: Date | null, to: Date | null, timeOfDay: TimeOfDay | null): TimeWindow {
  const begin = from ? from.getTime() * 1_000 : Number.NEGATIVE_INFINITY;
  const end = to ? to.getTime() * 1_000 : Number.POSITIVE_INFINITY;
  return {
    holds: (moment) => moment >= begin && moment <= end && (timeOfDay === null || isAt(timeOfDay, moment)),
    coverage: (first, last) => {
      if (last < begin || first > end) return "none";
      return timeOfDay === null && first >= begin && last <= end ? "all" : "some";
    },
  };
}

function isAt({ from, to }: TimeOfDay, moment: number): boolean {
  const minute = Math.floor(moment / MINUTE) % DAY_MINUTES;
  return from <= to ? minute >= from && minute <= to : minute >= from || minute <= to;
}
