import { invalid } from "@parley/shared/errors";

const DAY_MS = 86_400_000;
const DAYS_MAX = 366;

/** The first and the last of whole UTC days, as YYYY-MM-DD. @throws ServiceError invalid unless they are 1 to 366 days */
export function daysOf(from: Date | undefined, to: Date | undefined): { first: string; last: string } {
  const first = dayOf("from", from);
  const end = dayOf("to", to);
  if (end <= first || end - first > DAYS_MAX) throw invalid("to", `to must be 1 to ${DAYS_MAX} days after from`);
  return { first: dateOf(first), last: dateOf(end - 1) };
}

/** Days since 1970. @throws ServiceError invalid unless the time is midnight UTC with a four-digit year */
function dayOf(name: string, time: Date | undefined): number {
  const day = (time?.getTime() ?? Number.NaN) / DAY_MS;
  if (!Number.isInteger(day) || !/^\d{4}-/.test(dateOf(day))) throw invalid(name, `${name} must be midnight UTC`);
  return day;
}

function dateOf(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}
