import type { TestDefinition } from "@parley/shared/domain/tests";
import { testPassed } from "../score.ts";
import type { AttemptSummary } from "../store/attempts.ts";

/** A test of a run with its attempts. */
export interface ScoredTest {
  testId: string;
  name: string;
  required: boolean;
  definition: TestDefinition;
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
    const { name, required, definition } = first;
    return { testId, name, required, definition, passes, passed: testPassed(definition, passes, left), attempts: own };
  });
}
