import { onFirstUse } from "../numbers.ts";
import type { Option } from "./select.tsx";

const zones = onFirstUse(() =>
  Intl.supportedValuesOf("timeZone").map((zone): Option => ({ value: zone, label: zone.replaceAll("_", " ") })),
);

/** The time zones that a browser knows, and the one that is chosen. */
export function timeZoneOptions(chosen: string): readonly Option[] {
  const known = zones();
  if (chosen === "" || known.some(({ value }) => value === chosen)) return known;
  return [{ value: chosen, label: chosen }, ...known];
}
