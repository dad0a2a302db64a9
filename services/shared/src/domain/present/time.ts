/** Formats as ISO 8601 right away: one Date (or other `toJSON`) anywhere makes JSON.stringify ten times slower. */
export function isoTime(date: Date | undefined): string | undefined {
  return date?.toISOString();
}
