import type { Violation } from "../errors.ts";

const TOLD = 20;

/**
 * The first 20 faults, and how many more there are.
 * @param path of the last one, which says that
 * @param what has the faults, in the plural
 */
export function firstViolations(faults: readonly Violation[], path: string, what: string): Violation[] {
  const more = faults.length - TOLD;
  if (more <= 0) return [...faults];
  return [...faults.slice(0, TOLD), { path, message: `and ${more} more ${what} are wrong` }];
}
