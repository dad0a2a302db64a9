import type { ClientResult } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { beginningOf, RESULT_BYTES_MAX } from "../store/turns/kept-tool-calls.ts";
import type { ToolCallEnd } from "../store/turns/tool-ledger.ts";
import { CANCELLED, NOT_ANSWERED } from "./call-ends.ts";
import type { ToolLedger } from "./ledger.ts";
import { type CallPlace, countCall, countEnd, type DueCall, type Handed, type MadeCall } from "./make-call.ts";
import { failed } from "./tool.ts";

/** A call that the client makes. */
export interface ClientCall {
  toolCallId: string;
  name: string;
  /** A JSON object. */
  arguments: string;
  /** Whether the model waits for the result. */
  wait: boolean;
  /** How long it waits; undefined if it does not. */
  timeoutMs?: number | undefined;
}

/** Who makes the calls of client tools. */
export interface Client {
  /** Gets calls, which the ledger has. */
  take(calls: readonly ClientCall[]): void;
  /** Whether the turn waits for the results, rather than going on with the client's next request. */
  isAwaited: boolean;
}

/** What the model is told of a call that is handed over without waiting for its result in this turn. */
export const HANDED_OVER = JSON.stringify({ status: "handed over" });

/** What the client gets of a call of this tool; a text says why there is nothing to be called. Null if no client makes the call. */
export function handedOf(
  { client, rules }: DueCall["tool"],
  input: Readonly<Record<string, unknown>>,
  { clock, variables }: CallPlace,
): Handed | string | null {
  if (!client) return null;
  const given = client.argumentsOf(input, variables);
  if (typeof given === "string") return given;
  const answerBy = client.wait ? new Date(clock.now().getTime() + rules.timeoutMs) : null;
  return { json: JSON.stringify(given), answerBy };
}

/** @param timeoutMs how long the model waits for the result; null if it does not */
export function clientCall(toolCallId: string, name: string, json: string, timeoutMs: number | null): ClientCall {
  return { toolCallId, name, arguments: json, wait: timeoutMs !== null, timeoutMs: timeoutMs ?? undefined };
}

/** Hands calls over that the ledger has. */
export function handOver(client: Client | undefined, due: readonly DueCall[]): void {
  const calls = due.flatMap(({ key, call, tool, handed }): ClientCall[] => {
    if (!handed) return [];
    return [clientCall(key.toolCallId, call.name, handed.json, handed.answerBy ? tool.rules.timeoutMs : null)];
  });
  if (calls.length > 0) client?.take(calls);
  for (const { wait } of calls) if (!wait) countCall("client", "SUCCEEDED", performance.now());
}

/**
 * Waits until the client has given the result, wherever it did, or its time is up.
 * @param interrupted ends a call whose tool is cancelled when the user interrupts
 * @throws when the ledger cannot be read
 */
export async function awaitClient(
  ledger: Pick<ToolLedger, "handed" | "end">,
  { key, tool }: Pick<DueCall, "key" | "tool">,
  answerBy: Date,
  { clock, log }: Pick<CallPlace, "clock" | "log">,
  interrupted: AbortSignal,
): Promise<MadeCall> {
  const isCancelled = () => tool.rules.interruption === "cancel" && interrupted.aborted;
  for (;;) {
    const call = await ledger.handed(key, log);
    if (!call) return { ...failed("The conversation was deleted."), isOutside: false };
    const { state, result, isOutside, handedAt } = call;
    if (state !== "RUNNING") return { result, isError: state !== "SUCCEEDED", isOutside };
    const now = clock.now();
    const end = isCancelled() ? CANCELLED : answerBy < now ? NOT_ANSWERED : null;
    const durationMs = now.getTime() - handedAt.getTime();
    // Looks again in any case, because the client may have been faster.
    if (end && (await ledger.end(key, { ...end, durationMs }, log))) countEnd("client", end.state, durationMs);
  }
}

/** The end of a call with what the client gave, or never gave. */
export function endOfHanded(
  { handedAt, answerBy }: { handedAt: Date; answerBy: Date | null },
  given: Pick<ClientResult, "result" | "isError"> | undefined,
  now: Date,
): ToolCallEnd {
  if (!given || (answerBy !== null && answerBy < now)) return NOT_ANSWERED;
  const { text: result, isCut } = beginningOf(given.result, RESULT_BYTES_MAX);
  const durationMs = now.getTime() - handedAt.getTime();
  return { ...NOT_ANSWERED, state: given.isError ? "FAILED" : "SUCCEEDED", result, isCut, isOutside: true, durationMs };
}
