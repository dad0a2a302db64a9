import { scoreTest, type TestScore } from "../score.ts";
import type { AttemptSummary } from "../store/attempts.ts";

/** A test of a run with its attempts. */
export interface ScoredTest extends TestScore {
  testId: string;
  name: string;
  required: boolean;
  passAtLeast: number;
  passKey: string | null;
  attempts: AttemptSummary[];
}

/** The tests of one run, in the order of their first attempts. */
export function scoreTests(attempts: readonly AttemptSummary[]): ScoredTest[] {
  return [...Map.groupBy(attempts, ({ testId }) => testId).entries()].map(([testId, own]) => {
    const [first] = own as [AttemptSummary];
    const { name, required, passAtLeast, passKey } = first;
    const statuses = own.map(({ status }) => status);
    return { testId, name, required, passAtLeast, passKey, ...scoreTest(passAtLeast, statuses), attempts: own };
  });
}
