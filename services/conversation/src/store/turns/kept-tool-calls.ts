import type { TOOL_CALL_STATES } from "@parley/shared/domain/api-names";
import { storable } from "../storable.ts";

/** What makes a tool's calls. Built-in tools act on the conversation itself; the others have effects outside of it. */
export type ToolKind = "builtin" | "http" | "client" | "mcp" | "handoff";

/** REQUESTED and RUNNING calls have no result yet. Of an UNKNOWN one nobody knows whether it had an effect. */
export type ToolCallState = keyof typeof TOOL_CALL_STATES;

/** Whether the tool has not done what the model wanted, as far as anybody knows. */
export function isFailed(state: ToolCallState): boolean {
  return state === "FAILED" || state === "CANCELLED" || state === "UNKNOWN";
}

/** A tool call of a conversation's model, as the ledger has it. */
export interface ToolCallRow {
  /** `tcl_…`, later calls having greater ids. */
  toolCallId: string;
  /** Of the turn's requests to the model, from 1 on. The calls of a round are made together. */
  round: number;
  /** Characters of the reply before the call. */
  place: number;
  kind: ToolKind;
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
  state: ToolCallState;
  /** What the model is told; empty while there is no result. */
  result: string;
  /** Whether the result is text from outside. */
  isOutside: boolean;
  /** Only the beginning of name, arguments or result is kept. */
  isCut: boolean;
  /** Of an HTTP answer; null if there was none. */
  status: number | null;
  /** What else people should know of the call. */
  note: string | null;
  attempts: number;
  /** From the request to the call; null if not measured. */
  startedMs: number | null;
  /** Null while there is no result. */
  durationMs: number | null;
  /** Which mock of the conversation's test answers it; null if none does. */
  mock: number | null;
}

/** Calls that are kept of one reply, of those that are over at once: the first ones. */
export const CALLS_MAX = 32;
/** Limit for the texts of these calls together. Further ones are kept without arguments and result. */
export const REPLY_BYTES_MAX = 64 * 1024;
/** Limit for the arguments of such a call, and for its result. */
const TEXT_BYTES_MAX = 4 * 1024;
const NAME_BYTES_MAX = 128;
/** Limit for the result of a call that was made, as the model sees it. */
export const RESULT_BYTES_MAX = 32 * 1024;

/** What is kept of a call that was over at once. */
export function keptToolCall(call: Omit<ToolCallRow, "isCut">): ToolCallRow {
  return bounded(call, TEXT_BYTES_MAX, TEXT_BYTES_MAX);
}

/** What is kept of a call that takes time. The model's later requests have all of it. */
export function ledgeredToolCall(call: Omit<ToolCallRow, "isCut">): ToolCallRow {
  return bounded(call, Number.POSITIVE_INFINITY, RESULT_BYTES_MAX);
}

function bounded(call: Omit<ToolCallRow, "isCut">, argumentsMax: number, resultMax: number): ToolCallRow {
  const texts = [
    beginningOf(call.name, NAME_BYTES_MAX),
    beginningOf(call.arguments, argumentsMax),
    beginningOf(call.result, resultMax),
  ] as const;
  const [name, given, result] = texts;
  return {
    ...call,
    name: name.text,
    arguments: given.text,
    result: result.text,
    isCut: texts.some(({ isCut }) => isCut),
    durationMs: rounded(call.durationMs),
    startedMs: rounded(call.startedMs),
  };
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

/** Adds a call to those kept for a reply, if there is room. */
export function keepToolCall(kept: ToolCallRow[], call: ToolCallRow): void {
  if (kept.length === CALLS_MAX) return;
  const isFull = bytesOfAll([...kept, call]) > REPLY_BYTES_MAX;
  kept.push(isFull ? withoutTexts(call) : call);
}

/** A call for which its reply has no room. */
export function withoutTexts(call: ToolCallRow): ToolCallRow {
  return { ...call, arguments: "", result: "", isCut: true };
}

export function bytesOf({ name, arguments: given, result }: ToolCallRow): number {
  return Buffer.byteLength(name) + Buffer.byteLength(given) + Buffer.byteLength(result);
}

export function bytesOfAll(calls: readonly ToolCallRow[]): number {
  return calls.reduce((sum, call) => sum + bytesOf(call), 0);
}

/** The beginning of a text, in whole characters, as it can be stored. */
export function beginningOf(text: string, bytesMax: number): { text: string; isCut: boolean } {
  // A character has at least one byte, so text beyond the limit need not be examined.
  const whole = storable(text.slice(0, bytesMax)).toWellFormed();
  const bytes = Buffer.from(whole);
  if (bytes.length <= bytesMax) return { text: whole, isCut: text.length > bytesMax };
  return { text: new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true }), isCut: true };
}
