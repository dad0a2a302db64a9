/** A run as the API shows it, as far as this program reads it. */
export interface Run {
  run_id: string;
  agent_id: string;
  agent_version: number;
  status: "QUEUED" | "RUNNING" | "PASSED" | "FAILED" | "CANCELLED" | "ERROR";
  cost_usd: number;
  error: string | null;
  created_at: string;
  ended_at: string | null;
  results: Result[];
}

export interface Result {
  test_id: string;
  name: string;
  passed: boolean | null;
  passes: number;
  pass_at_least: number;
  attempts: {
    attempt: number;
    status: Run["status"];
    conversation_id: string | null;
    assertions: { type: string; turn?: number; passed: boolean; reason: string }[];
    error: string | null;
    started_at: string | null;
    ended_at: string | null;
  }[];
}

/** Why a test did not pass, a line each. */
export function faultsOf({ attempts }: Result): string[] {
  return attempts.flatMap(({ attempt, status, assertions, error }) => {
    const of = attempts.length > 1 ? `attempt ${attempt}: ` : "";
    if (error !== null) return [`${of}${error}`];
    if (status === "CANCELLED") return [`${of}cancelled`];
    return assertions
      .filter(({ passed }) => !passed)
      .map(({ type, turn, reason }) => `${of}${type}${turn === undefined ? "" : ` (turn ${turn})`}: ${reason}`);
  });
}
