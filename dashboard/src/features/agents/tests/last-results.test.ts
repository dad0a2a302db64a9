import { expect, test } from "bun:test";
import { lastResultsOf } from "./last-results.ts";

const AT = "2026-01-31T09:30:00.000Z";

test("a test's last result is of its newest run that has ended and did not cancel it, as by its cap", () => {
  const run = (run_id: string, status: string, ended_at: string | null = AT) => ({
    ...{ run_id, agent_version: 3, ended_at },
    results: [
      { test_id: "tst_1", status },
      { test_id: `of_${run_id}`, status: "PASSED" },
    ],
  });
  const runs = [
    run("run_5", "RUNNING", null),
    run("run_4", "CANCELLED"),
    run("run_3", "ERROR"),
    run("run_2", "PASSED"),
  ];
  expect(lastResultsOf(runs as never).get("of_run_4")).toMatchObject({ runId: "run_4", status: "PASSED" });
  expect(lastResultsOf(runs as never).get("tst_1")).toEqual({
    runId: "run_3",
    status: "ERROR",
    agentVersion: 3,
    at: AT,
  });
  expect(lastResultsOf([]).size).toBe(0);
});
