/**
 * When a provider says that it will take a request again, in milliseconds from `now`: `Retry-After` (RFC 9110, 10.2.3), seconds or
 * a date, or the finer `retry-after-ms` that some send beside it. Undefined when it says nothing that can be read.
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
