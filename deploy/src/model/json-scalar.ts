import type { JsonObject } from "./read-json.ts";

const STRING_CHARACTERS_MAX = 10_000;

const FORMATS: Record<string, string> = {
  date: "2026-01-01",
  "date-time": "2026-01-01T09:00:00Z",
  time: "09:00:00Z",
  duration: "PT1M",
  email: "someone@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

/** `phrase` within the schema's length, in characters (Unicode code points); undefined when no length fits. */
export function sampleString(schema: JsonObject, phrase: string): string | undefined {
  const format = typeof schema.format === "string" && Object.hasOwn(FORMATS, schema.format) && FORMATS[schema.format];
  if (format) return format;
  const lengthMin = bound(schema.minLength) ?? 0;
  const lengthMax = bound(schema.maxLength) ?? Number.POSITIVE_INFINITY;
  if (lengthMin > Math.min(lengthMax, STRING_CHARACTERS_MAX)) return undefined;
  const characters = [...phrase].slice(0, lengthMax);
  return characters.join("") + ".".repeat(Math.max(lengthMin - characters.length, 0));
}

/** Zero if the schema allows it, else a number near its bounds; undefined when none of the tried ones fits. */
export function sampleNumber(schema: JsonObject, isInteger: boolean): number | undefined {
  const step = bound(schema.multipleOf) ?? (isInteger ? 1 : 0);
  const above = bound(schema.exclusiveMinimum) ?? Number.NEGATIVE_INFINITY;
  const below = bound(schema.exclusiveMaximum) ?? Number.POSITIVE_INFINITY;
  const min = Math.max(bound(schema.minimum) ?? Number.NEGATIVE_INFINITY, above);
  const max = Math.min(bound(schema.maximum) ?? Number.POSITIVE_INFINITY, below);
  const fits = (value: number) =>
    value >= min && value <= max && value !== above && value !== below && (!isInteger || Number.isInteger(value));
  return [0, min, max, (min + max) / 2, min + 1, max - 1].filter(Number.isFinite).flatMap(stepsNear(step)).find(fits);
}

function stepsNear(step: number): (value: number) => number[] {
  if (step <= 0) return (value) => [value];
  return (value) => [
    Math.floor(value / step) * step,
    Math.ceil(value / step) * step,
    (Math.floor(value / step) + 1) * step,
  ];
}

function bound(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
