/**
 * How long a provider asks to wait before the next request, in milliseconds from `now`: from `Retry-After` (RFC 9110,
 * 10.2.3), in seconds or as a date, or the finer `retry-after-ms` that some send as well. Undefined when neither can be
 * parsed.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const fine = parseNumber(headers["retry-after-ms"]);
  if (fine !== undefined) return fine;
  const given = headers["retry-after"];
  const seconds = parseNumber(given);
  if (seconds !== undefined) return seconds * 1000;
  const at = given === undefined || !/[a-z]/i.test(given) ? Number.NaN : Date.parse(given);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now);
}

function parseNumber(given: string | undefined): number | undefined {
  return given !== undefined && /^\s*\d{1,9}(\.\d+)?\s*$/.test(given) ? Number(given) : undefined;
}
