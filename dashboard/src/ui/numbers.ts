import { LOCALE } from "./locale.ts";

/**
 * Makes a value when it is first used. A browser takes longer to make its first formatter for a locale than to render a page, and
 * most pages show their largest part without one.
 */
export function onFirstUse<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const number = onFirstUse(() => new Intl.NumberFormat(LOCALE));
const compact = onFirstUse(() => new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 1 }));
const percent = onFirstUse(() => new Intl.NumberFormat(LOCALE, { style: "percent" }));
const tenths = onFirstUse(() => new Intl.NumberFormat(LOCALE, { minimumFractionDigits: 1, maximumFractionDigits: 1 }));

const USD = { style: "currency", currency: "USD" } as const;
const cents = onFirstUse(() => new Intl.NumberFormat(LOCALE, USD));
const small = onFirstUse(() => new Intl.NumberFormat(LOCALE, { ...USD, maximumSignificantDigits: 2 }));
/** From here on, two digits that are not zero are a whole number of cents. */
const CENTS_FROM = 0.0995;

/** A number in the viewer's locale. */
export function numberOf(value: number): string {
  return number().format(value);
}

/** A short form of the number, such as `12.4K`. */
export function compactOf(value: number): string {
  return value < 10_000 ? number().format(value) : compact().format(value);
}

/** An amount in US dollars to the cent, or a smaller one to two digits that are not zero, such as `$12.40` or `$0.00031`. @param usdMicros millionths of a dollar */
export function dollarsOf(usdMicros: number): string {
  const usd = usdMicros / 1e6;
  return (usd === 0 || Math.abs(usd) >= CENTS_FROM ? cents() : small()).format(usd);
}

/** A share from 0 to 1 in whole percent, such as `95%`. */
export function percentOf(share: number): string {
  return percent().format(share);
}

const BYTE_UNITS = ["kB", "MB", "GB"] as const;

/** A size, such as `53 B` or `1.2 MB`. */
export function bytesOf(bytes: number): string {
  if (bytes < 1_000) return `${number().format(bytes)} B`;
  const unit = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(bytes) / 3) - 1);
  return `${tenths().format(bytes / 1_000 ** (unit + 1))} ${BYTE_UNITS[unit]}`;
}

/** A short time, such as `480 ms` or `1.2 s`. */
export function latencyOf(ms: number): string {
  return ms < 1_000 ? `${number().format(ms)} ms` : `${tenths().format(ms / 1_000)} s`;
}

/** How long something lasted, such as `42 s`, `3 min 5 s` or `2 h 10 min`. */
export function durationOf(seconds: number): string {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours > 0) return `${number().format(hours)} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
}

/** A place in a recording, such as `3:05`. */
export function clockOf(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, "0")}:${String(rest).padStart(2, "0")}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}
