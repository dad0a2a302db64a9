import type { AssertionResult, RunStatus, TestDefinition } from "@parley/shared/domain/tests";
import { jsonHash } from "@parley/shared/json/json-hash";

/** How long a pass opens the gate, in milliseconds: models behind an unchanged version change. */
export const PASS_VALID_MS = 30 * 24 * 60 * 60_000;

/**
 * What a pass is good for: the same version, with the models and tools in it, and the same test, with its judges and mocks.
 * @param versionHash of the version's content
 */
export function passKey(versionHash: string, test: TestDefinition): string {
  return jsonHash([versionHash, test]);
}

/** What the attempts of a test say of it. */
export interface TestScore {
  passes: number;
  /** Null while the rest of the attempts can still change it. */
  passed: boolean | null;
  /** What the attempts came to, or that they are not done. */
  status: RunStatus;
}

/** @param statuses of the test's attempts */
export function scoreTest(passAtLeast: number, statuses: readonly RunStatus[]): TestScore {
  const passes = statuses.filter((status) => status === "PASSED").length;
  const left = statuses.filter(isOpen).length;
  if (passes >= passAtLeast) return { passes, passed: true, status: "PASSED" };
  if (passes + left >= passAtLeast) {
    const hasBegun = statuses.some((status) => status !== "QUEUED");
    return { passes, passed: null, status: hasBegun ? "RUNNING" : "QUEUED" };
  }
  const status = (["FAILED", "ERROR"] as const).find((each) => statuses.includes(each)) ?? "CANCELLED";
  return { passes, passed: false, status };
}

/** Whether an attempt has not ended. */
export function isOpen(status: RunStatus): boolean {
  return status === "QUEUED" || status === "RUNNING";
}

export function attemptPassed(results: readonly AssertionResult[]): boolean {
  return results.every(({ passed }) => passed);
}

/** The status of a run whose attempts have all ended. An error matters only if a test did not pass without that attempt. */
export function runStatus(tests: readonly { passed: boolean; errors: number }[]): RunStatus {
  if (tests.every(({ passed }) => passed)) return "PASSED";
  return tests.some(({ passed, errors }) => !passed && errors > 0) ? "ERROR" : "FAILED";
}
