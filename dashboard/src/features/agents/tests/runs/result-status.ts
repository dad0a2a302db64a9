import type { components } from "../../../../api/gen/schema.ts";

type Run = components["schemas"]["TestRun"];

/** How a test of a run as a whole stands: what its attempts came to, or that they are not done. */
export function resultStatus({ passed, attempts }: Pick<Run["results"][number], "passed" | "attempts">): Run["status"] {
  if (passed === true) return "PASSED";
  const statuses = new Set(attempts.map(({ status }) => status));
  if (passed === null) return statuses.size === 1 && statuses.has("QUEUED") ? "QUEUED" : "RUNNING";
  if (statuses.has("FAILED")) return "FAILED";
  return statuses.has("ERROR") ? "ERROR" : "CANCELLED";
}
