import { createHash } from "node:crypto";
import type { AssertionResult, RunStatus, TestDefinition } from "@parley/shared/domain/tests";

/** How long a pass opens the gate, in milliseconds: models behind an unchanged version change. */
export const PASS_VALID_MS = 30 * 24 * 60 * 60_000;

/**
 * What a pass is good for: the same version, with the models and tools in it, and the same test, with its judges and mocks.
 * @param versionHash of the version's content
 */
export function passKey(versionHash: string, test: TestDefinition): string {
  return createHash("sha256").update(versionHash).update("\0").update(stableJson(test)).digest("hex");
}

/** The same text for equal values, whatever the order of their fields. */
export function stableJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : each,
  );
}

/** What the attempts of a test say of it; null while the rest of them can still change that. */
export function testPassed(passAtLeast: number, passes: number, left: number): boolean | null {
  if (passes >= passAtLeast) return true;
  return passes + left < passAtLeast ? false : null;
}

export function attemptPassed(results: readonly AssertionResult[]): boolean {
  return results.every(({ passed }) => passed);
}

/** The status of a run whose attempts have all ended. An error matters only if a test did not pass without that attempt. */
export function runStatus(tests: readonly { passed: boolean; errors: number }[]): RunStatus {
  if (tests.every(({ passed }) => passed)) return "PASSED";
  return tests.some(({ passed, errors }) => !passed && errors > 0) ? "ERROR" : "FAILED";
}
