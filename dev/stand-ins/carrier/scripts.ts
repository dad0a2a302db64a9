/** How the other party of a call behaves. */
export interface Script {
  /** The outcome of a call to a phone. */
  outcome: "answer" | "busy" | "no_answer" | "failed" | "machine";
  /** Milliseconds that the carrier takes to answer the request for the call, which in the meantime rings. */
  accept_ms: number;
  /** Milliseconds from the request to the answer, or to the end of a call that is not answered. */
  ring_ms: number;
  /** What the phone says, each sentence when the agent has finished. */
  say: string[];
  /** Keys that the phone presses after the last sentence. */
  keys: string;
  /** Milliseconds after which the phone hangs up; without it, when the agent has answered its last sentence. */
  hang_up_after_ms: number | null;
  /** Milliseconds after which the media socket breaks without a word. */
  drop_socket_after_ms: number | null;
  callbacks: {
    /** Milliseconds by which callbacks are late; the answer document is not. */
    late_ms: number;
    twice: boolean;
    /** Whether callbacks come in the opposite order, all after the end of the call. */
    reversed: boolean;
  };
}

export const USUAL: Script = {
  outcome: "answer",
  accept_ms: 0,
  ring_ms: 300,
  say: ["Hello. When do you open?"],
  keys: "",
  hang_up_after_ms: null,
  drop_socket_after_ms: null,
  callbacks: { late_ms: 0, twice: false, reversed: false },
};

/** Completes what a request says of a script. @throws Error naming the field that is wrong */
export function scriptOf(given: Record<string, unknown>): Script {
  const { callbacks = {}, ...rest } = given;
  const script = { ...USUAL, ...rest, callbacks: { ...USUAL.callbacks, ...(callbacks as object) } } as Script;
  const isWhole = (value: unknown) => value === null || (typeof value === "number" && value >= 0 && value <= 3_600_000);
  const wrong = [
    [["answer", "busy", "no_answer", "failed", "machine"].includes(script.outcome), "outcome"],
    [script.accept_ms !== null && isWhole(script.accept_ms), "accept_ms"],
    [script.ring_ms !== null && isWhole(script.ring_ms), "ring_ms"],
    [Array.isArray(script.say) && script.say.every((line) => typeof line === "string"), "say"],
    [/^[0-9*#]*$/.test(script.keys), "keys"],
    [isWhole(script.hang_up_after_ms), "hang_up_after_ms"],
    [isWhole(script.drop_socket_after_ms), "drop_socket_after_ms"],
  ].find(([isRight]) => !isRight);
  if (wrong) throw new Error(`${wrong[1]} is not valid`);
  return script;
}
