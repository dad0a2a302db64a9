import { invalid } from "@parley/shared/errors";
import { readDate } from "./date.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_DEFAULT = 30;
export const DAYS_MAX = 366;

/** The days that a query asks for, in UTC: `end` is the midnight after the last one. */
interface Period {
  first: Date;
  end: Date;
}

/** @throws ServiceError invalid for days that do not exist, are in the wrong order, or are too many */
export function periodOf({ from, to }: { from?: string; to?: string }, now: Date): Period {
  const last = readDate("to", to ?? now.toISOString().slice(0, 10));
  // Keeps the neighbouring days representable too.
  const year = last.getUTCFullYear();
  if (year < 1970 || year > 9998) throw invalid("to", "to must be between the years 1970 and 9998");
  const first = from ? readDate("from", from) : new Date(last.getTime() - (DAYS_DEFAULT - 1) * DAY_MS);
  if (first > last) throw invalid("from", "from must not be after to");
  if (last.getTime() - first.getTime() >= DAYS_MAX * DAY_MS) {
    throw invalid("from", `from must be at most ${DAYS_MAX} days before the end of to`);
  }
  return { first, end: new Date(last.getTime() + DAY_MS) };
}
