import { storable } from "../storable.ts";

/** A tool call with its result, as it is kept for readers of the conversation. */
export interface KeptToolCall {
  name: string;
  /** JSON, as the model wrote it. */
  arguments: string;
  result: string;
  isError: boolean;
  /** Only the beginning of name, arguments or result is kept. */
  isCut: boolean;
  /** From the request to the call; null if not measured. */
  startedMs: number | null;
  durationMs: number;
  /** Characters of the reply before the call. */
  offset: number;
}

/** Calls that are kept of one reply: the first ones. */
export const CALLS_MAX = 32;
/** Limit for the texts of a reply's calls together. Further calls are kept without arguments and result. */
export const REPLY_BYTES_MAX = 64 * 1024;
/** Limit for the arguments of a call, and for its result. */
const TEXT_BYTES_MAX = 4 * 1024;
const NAME_BYTES_MAX = 128;

/** What is kept of a call. */
export function keptToolCall(call: Omit<KeptToolCall, "isCut">): KeptToolCall {
  const texts = [
    cut(call.name, NAME_BYTES_MAX),
    cut(call.arguments, TEXT_BYTES_MAX),
    cut(call.result, TEXT_BYTES_MAX),
  ] as const;
  const [name, given, result] = texts;
  return {
    ...call,
    name: name.text,
    arguments: given.text,
    result: result.text,
    isCut: texts.some(({ isCut }) => isCut),
    durationMs: Math.round(call.durationMs),
    startedMs: call.startedMs === null ? null : Math.round(call.startedMs),
  };
}

/** A call for which its reply has no room. */
export function withoutTexts(call: KeptToolCall): KeptToolCall {
  return { ...call, arguments: "", result: "", isCut: true };
}

/** Adds a call to those kept for a reply, if there is room. */
export function keepToolCall(kept: KeptToolCall[], call: KeptToolCall): void {
  if (kept.length === CALLS_MAX) return;
  kept.push(bytesOfAll([...kept, call]) > REPLY_BYTES_MAX ? withoutTexts(call) : call);
}

export function bytesOf({ name, arguments: given, result }: KeptToolCall): number {
  return Buffer.byteLength(name) + Buffer.byteLength(given) + Buffer.byteLength(result);
}

export function bytesOfAll(calls: readonly KeptToolCall[]): number {
  return calls.reduce((sum, call) => sum + bytesOf(call), 0);
}

/** The beginning of a text, in whole characters, as it can be stored. */
function cut(text: string, bytesMax: number): { text: string; isCut: boolean } {
  // A character has at least one byte, so text beyond the limit need not be examined.
  const whole = storable(text.slice(0, bytesMax)).toWellFormed();
  const bytes = Buffer.from(whole);
  if (bytes.length <= bytesMax) return { text: whole, isCut: text.length > bytesMax };
  return { text: new TextDecoder().decode(bytes.subarray(0, bytesMax), { stream: true }), isCut: true };
}
