import { expect, test } from "bun:test";
import { resultStatus } from "./result-status.ts";

type Status = ReturnType<typeof resultStatus>;

test.each<[boolean | null, Status[], Status]>([
  [null, ["QUEUED", "QUEUED"], "QUEUED"],
  [null, ["PASSED", "QUEUED"], "RUNNING"],
  [true, ["FAILED", "PASSED"], "PASSED"],
  [false, ["ERROR", "FAILED"], "FAILED"],
  [false, ["ERROR", "PASSED"], "ERROR"],
  // By the run's cap, or by a person.
  [false, ["PASSED", "CANCELLED"], "CANCELLED"],
])("a test that passed (%p) with attempts %j shows as %s", (passed, attempts, shown) => {
  const result = { passed, attempts: attempts.map((status) => ({ status })) };
  expect(resultStatus(result as never)).toBe(shown);
});
