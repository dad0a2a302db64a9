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
    transcript: { turns: { turn: number; tool_calls: ToolCall[] }[] } | null;
    assertions: { type: string; turn?: number; passed: boolean; reason: string }[];
    error: string | null;
    started_at: string | null;
    ended_at: string | null;
  }[];
}

/** Whether an agent did not do what a test expects; otherwise a run that has not passed could not be held, or not to its end. */
export function hasFailed({ results }: Run): boolean {
  return results.some(({ passed, attempts }) => passed !== true && attempts.some(({ status }) => status === "FAILED"));
}

interface ToolCall {
  name: string;
  arguments: unknown;
  result: string;
  is_error: boolean;
}

/** Why a test did not pass, a line each: what does not hold, and the calls of tools that failed, which may be the reason. */
export function faultsOf({ attempts }: Result): string[] {
  return attempts.flatMap(({ attempt, status, transcript, assertions, error }) => {
    const of = attempts.length > 1 ? `attempt ${attempt}: ` : "";
    if (error !== null) return [`${of}${error}`];
    if (status === "CANCELLED") return [`${of}cancelled`];
    const broken = assertions.filter(({ passed }) => !passed);
    if (broken.length === 0) return [];
    const calls = (transcript?.turns ?? []).flatMap(({ turn, tool_calls }) =>
      tool_calls.filter((call) => call.is_error).map((call) => ({ turn, ...call })),
    );
    return [
      ...broken.map(
        ({ type, turn, reason }) => `${of}${type}${turn === undefined ? "" : ` (turn ${turn})`}: ${reason}`,
      ),
      ...calls.map(
        (call) => `${of}${call.name} ${JSON.stringify(call.arguments)} (turn ${call.turn}) failed: ${call.result}`,
      ),
    ];
  });
}
