import { durations } from "@parley/shared/telemetry/instruments";
import { codePoints } from "@parley/shared/text/length";
import type { ToolCall } from "../model/port.ts";
import { beginningOf, RESULT_BYTES_MAX, type ToolCallState, type ToolKind } from "../store/turns/kept-tool-calls.ts";
import type { ToolCallKey } from "../store/turns/tool-ledger.ts";
import { CANCELLED } from "./call-ends.ts";
import type { ToolLedger } from "./ledger.ts";
import { failed, type Tool, type ToolContext, type ToolOutcome, type ToolRules } from "./tool.ts";

// The names of tools are their owners' own, and unbounded in number.
const took = durations("parley.tool.call.duration", "Duration of tool calls by kind of tool and outcome");

/** A call of a tool that takes time; the ledger has it. */
export interface DueCall {
  key: ToolCallKey;
  call: ToolCall;
  tool: Tool & { rules: ToolRules };
  /** Of a call that the client makes. */
  handed?: Handed | null;
}

/** What the client gets of a call. */
export interface Handed {
  /** The arguments as JSON. */
  json: string;
  /** Until when it may give the result; null if none is waited for. */
  answerBy: Date | null;
}

/** What is the same for all calls of a turn. */
export type CallPlace = Omit<ToolContext, "toolCallId" | "signal" | "attempted">;

/** The kinds whose results are text from outside. */
const OUTSIDE: readonly ToolKind[] = ["http", "client", "mcp"];
const INTERRUPTED = Symbol("interrupted");
const LATE = Symbol("late");
/** What the model is told when a conversation has no room for the variables that a call assigns. */
const UNASSIGNED =
  "\nNo variable was set: those of a conversation have at most 1 MiB together, and with these values they would have more.";

/** An outcome, and whether its result is text from outside. */
export interface MadeCall extends ToolOutcome {
  isOutside: boolean;
}

/**
 * Makes a call, and stores how it ended.
 * @param interrupted ends a call whose tool is cancelled when the user interrupts
 * @throws when the end cannot be stored
 */
export async function makeCall(
  ledger: Pick<ToolLedger, "end">,
  { key, call, tool }: DueCall,
  place: CallPlace,
  interrupted: AbortSignal,
): Promise<MadeCall> {
  const { rules, kind } = tool;
  const own = new AbortController();
  const timer = setTimeout(() => own.abort(LATE), rules.timeoutMs);
  const interrupt = () => own.abort(INTERRUPTED);
  if (rules.interruption === "cancel") {
    interrupted.addEventListener("abort", interrupt, { once: true });
    if (interrupted.aborted) interrupt();
  }
  const startedAt = performance.now();
  let attempts = 1;
  const { outcome, isOutside } = await outcomeOf(tool, call, {
    ...place,
    toolCallId: key.toolCallId,
    signal: own.signal,
    attempted: (made) => {
      attempts = made;
    },
  });
  clearTimeout(timer);
  interrupted.removeEventListener("abort", interrupt);
  const state =
    own.signal.reason === INTERRUPTED && !isOutside ? "CANCELLED" : outcome.isError ? "FAILED" : "SUCCEEDED";
  if (tool.mock === undefined) countCall(kind, state, startedAt);
  const { text: result, isCut } = beginningOf(outcome.result, RESULT_BYTES_MAX);
  const { status = null, note = null, assignments = {}, takesOver = null, message = "" } = outcome;
  const hasAssignments = Object.keys(assignments).length > 0;
  const resultWithout = withNote(result, UNASSIGNED);
  const stored = await ledger.end(
    key,
    {
      state,
      result,
      isOutside,
      isCut,
      status,
      note,
      durationMs: Math.round(performance.now() - startedAt),
      furtherAttempts: attempts - 1,
      assigning: hasAssignments ? { assignments, resultWithout } : null,
      takesOver,
      charactersSaid: codePoints(message.trim()),
    },
    place.log,
  );
  if (stored?.isAssigned !== false) return { ...outcome, result, isOutside };
  return { ...outcome, result: resultWithout, isOutside, assignments: undefined };
}

function withNote(result: string, note: string): string {
  return beginningOf(result, RESULT_BYTES_MAX - Buffer.byteLength(note)).text + note;
}

/** @param startedAt when the call began, in `performance.now()` time */
export function countCall(kind: ToolKind, state: ToolCallState, startedAt: number): void {
  countEnd(kind, state, performance.now() - startedAt);
}

export function countEnd(kind: ToolKind, state: ToolCallState, tookMs: number): void {
  took().record(tookMs / 1_000, { kind, outcome: state.toLowerCase() });
}

/** Runs the tool until it has an outcome, its time is up, or it is cancelled. */
async function outcomeOf(
  tool: DueCall["tool"],
  call: ToolCall,
  context: ToolContext,
): Promise<{ outcome: ToolOutcome; isOutside: boolean }> {
  const { signal, log } = context;
  const { promise: over, resolve } = Promise.withResolvers<ToolOutcome>();
  const end = () => resolve(endedOutcome(signal.reason, tool.rules));
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  const run = async () => {
    const outcome = await tool.run(call, context);
    return { outcome, isOutside: outcome.isOutside ?? OUTSIDE.includes(tool.kind) };
  };
  try {
    return await Promise.race([run(), over.then((outcome) => ({ outcome, isOutside: false }))]);
  } catch (err) {
    if (signal.aborted) return { outcome: await over, isOutside: false };
    log.warn({ err, tool_kind: tool.kind, tool_call_id: context.toolCallId }, "a tool call failed");
    return { outcome: failed("The tool could not be called, because of a fault on our side."), isOutside: false };
  }
}

function endedOutcome(reason: unknown, { timeoutMs }: ToolRules): ToolOutcome {
  if (reason !== LATE) return failed(CANCELLED.result);
  return failed(`There was no result within ${timeoutMs / 1_000} s. The call may have had an effect.`);
}
