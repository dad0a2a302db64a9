import { invalid } from "@parley/shared/errors";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * The moment that an ISO 8601 text names: a date alone is its midnight, without a zone it is UTC.
 * @throws ServiceError invalid naming `path` for a day that is in no calendar, and for a moment that is outside the years 1
 *   to 9999 in UTC though its own text is not: neither a protobuf Timestamp nor Postgres could tell it
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

/** The same where a span of time ends: a date alone is its last millisecond. */
export function readEndDate(path: string, text: string): Date {
  const date = readDate(path, text);
  return text.length === "2026-01-31".length ? new Date(date.getTime() + DAY_MS - 1) : date;
}

/** A parser takes 30 February for 2 March. */
function isDay(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}
