/** ISO 8601, as text already: one Date (or other `toJSON`) anywhere in it makes JSON.stringify ten times slower. */
export function isoTime(date: Date | undefined): string | undefined {
  return date?.toISOString();
}
