import { testPassed } from "../score.ts";
import type { AttemptSummary } from "../store/attempts.ts";

/** A test of a run with its attempts. */
export interface ScoredTest {
  testId: string;
  name: string;
  required: boolean;
  passAtLeast: number;
  passKey: string | null;
  /** Null while open attempts matter. */
  passed: boolean | null;
  passes: number;
  attempts: AttemptSummary[];
}

/** The tests of one run, in the order of their first attempts. */
export function scoreTests(attempts: readonly AttemptSummary[]): ScoredTest[] {
  return [...Map.groupBy(attempts, ({ testId }) => testId).entries()].map(([testId, own]) => {
    const [first] = own as [AttemptSummary];
    const passes = own.filter(({ status }) => status === "PASSED").length;
    const left = own.filter(({ status }) => status === "QUEUED" || status === "RUNNING").length;
    const { name, required, passAtLeast, passKey } = first;
    const passed = testPassed(passAtLeast, passes, left);
    return { testId, name, required, passAtLeast, passKey, passes, passed, attempts: own };
  });
}
