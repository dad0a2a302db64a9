import { invalid } from "@parley/shared/errors";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Parses an ISO 8601 time: a date alone means its midnight, and a time without a zone is UTC.
 * @throws ServiceError invalid, naming `path`, for a day that does not exist, and for a time outside the years 1 to
 *   9999 in UTC, which neither a protobuf Timestamp nor Postgres can represent
 */
export function readDate(path: string, text: string): Date {
  const iso = text.replace(" ", "T");
  const date = new Date(iso.includes("T") && !/(Z|[+-]\d{2}:?\d{2})$/.test(iso) ? `${iso}Z` : iso);
  if (Number.isNaN(date.getTime()) || !isDay(iso.slice(0, 10)))
    throw invalid(path, `${path} must be a date that exists, in ISO 8601`);
  const year = date.getUTCFullYear();
  if (year < 1 || year > 9999) throw invalid(path, `${path} must be between the years 1 and 9999 in UTC`);
  return date;
}

/** The same for the end of a span: a date alone means its last millisecond. */
export function readEndDate(path: string, text: string): Date {
  const date = readDate(path, text);
  return text.length === "2026-01-31".length ? new Date(date.getTime() + DAY_MS - 1) : date;
}

/** The minute of the day of a time such as 09:30. */
export function minuteOf(time: string): number {
  const [hours = "0", minutes = "0"] = time.split(":");
  return Number(hours) * 60 + Number(minutes);
}

/** The parser reads 30 February as 2 March. */
function isDay(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}
