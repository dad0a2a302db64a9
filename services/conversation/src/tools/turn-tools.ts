import { newId } from "@parley/shared/ids";
import { parseObject } from "@parley/shared/json/json-object";
import type { Logger } from "@parley/shared/log";
import { fewAtOnce, NEVER_GONE } from "@parley/shared/shares/few-at-once";
import type { AnsweredToolCall, ToolCall } from "../model/port.ts";
import { keepToolCall, keptToolCall, ledgeredToolCall, type ToolCallRow } from "../store/turns/kept-tool-calls.ts";
import type { CallingTurn, EarlierToolCall, NewToolCall, ToolCallKey } from "../store/turns/tool-ledger.ts";
import { argumentsFault } from "./arguments.ts";
import { LOST, NOT_ANSWERED, NOT_MADE, OVERTAKEN } from "./call-ends.ts";
import { awaitClient, type Client, HANDED_OVER, handedOf, handOver } from "./client-calls.ts";
import type { ToolLedger } from "./ledger.ts";
import { type CallPlace, countCall, type DueCall, type MadeCall, makeCall } from "./make-call.ts";
import { type ToolTeller, toldLater } from "./telling.ts";
import { failed, type Tool, type ToolOutcome, type ToolRules } from "./tool.ts";
import type { Toolbox } from "./toolbox.ts";

/** A call with its result, as it goes back to the model. */
export type AnsweredCall = ToolCall & AnsweredToolCall;

/** Where in a turn calls are made. */
interface CallsAt {
  /** Of the turn's requests to the model, from 1 on. */
  round: number;
  /** Characters of the reply before the calls. */
  place: number;
}

/** The tools of a turn. */
export interface TurnTools {
  /**
   * Makes the calls of a round: together, at most eight at a time. Each one has an answer for the model.
   * @returns the answers at once if no tool takes time
   * @throws ServiceError conflict when the turn is over, and the reason of its signal; calls that run then go on, and their results
   * are stored
   */
  answer(calls: readonly ToolCall[], at: CallsAt): AnsweredCall[] | Promise<AnsweredCall[]>;
  /**
   * Ends calls whose process died: makes those once more whose tool allows it, and notes that the outcome of others is unknown.
   * @throws like `answer`
   */
  resume(calls: readonly EarlierToolCall[]): Promise<void>;
}

/** Learns of calls that take time. */
export interface CallWatch {
  began(toolCallId: string, name: string, rules: ToolRules): void;
  /** The call ended, or the turn no longer waits for it. */
  ended(toolCallId: string): void;
}

interface TurnToolsParts {
  ledger: ToolLedger;
  toolbox: Pick<Toolbox, "find">;
  turn: CallingTurn;
  /** The conversation as it is now. */
  place(): CallPlace;
  /** When the turn began, in `performance.now()` time; null for a runtime's call. */
  startedAt: number | null;
  /** Ends the turn. */
  signal: AbortSignal;
  /** Takes calls that were over at once, to be stored with the reply. */
  kept: ToolCallRow[];
  /** Takes what a call changes in the conversation. */
  apply(outcome: ToolOutcome): void;
  /** Why the turn had been over. */
  closed(): Promise<Error>;
  watch?: CallWatch | undefined;
  teller?: ToolTeller | undefined;
  /** Makes calls of client tools; without it, they are not available. */
  client?: Client | undefined;
  /** The id of the one call that is made; absent: new ones. */
  toolCallId?: string | undefined;
  log: Logger;
}

/** Calls of one round; the model is told to make further ones later. */
export const CALLS_OF_ROUND_MAX = 40;
/** The others of a round wait. */
const AT_ONCE = 8;
/** What the model is told at once of a call in the background. */
export const RUNNING = JSON.stringify({ status: "running" });

export function turnTools(parts: TurnToolsParts): TurnTools {
  const { ledger, toolbox, turn, place, signal, apply, watch, teller, client, log } = parts;
  const overAtOnce = toldLater(teller);
  const sinceStart = (at: number) => (parts.startedAt === null ? null : at - parts.startedAt);

  /** Answers a call that is over at once; returns another one, to be made. */
  function begin(call: ToolCall, number: number, at: CallsAt): AnsweredCall | DueCall {
    const calledAt = performance.now();
    const toolCallId = parts.toolCallId ?? newId("tcl");
    const tool = toolbox.find(call.name, call);
    const handed = client && isTimed(tool) ? handedOf(tool, call.input ?? {}, place()) : null;
    const fault = faultOf(call, number, tool) ?? (typeof handed === "string" ? handed : null);
    if (fault === null && isTimed(tool) && typeof handed !== "string" && (handed || !tool.client))
      return { key: keyOf(turn, toolCallId), call, tool, handed };
    const outcome =
      fault === null && tool
        ? (tool.run(call, { ...place(), toolCallId, signal, attempted: () => {} }) as ToolOutcome)
        : failed(fault ?? "");
    const { result, isError, status = null, note = null } = outcome;
    const row: Omit<ToolCallRow, "isCut"> = {
      ...{ toolCallId, ...at, kind: tool?.kind ?? "builtin", name: call.name, arguments: call.json },
      ...{ state: isError ? "FAILED" : "SUCCEEDED", result, isOutside: false, status, note, attempts: 1 },
      mock: null,
      startedMs: sinceStart(calledAt),
      durationMs: performance.now() - calledAt,
    };
    keepToolCall(parts.kept, keptToolCall(row));
    countCall(row.kind, row.state, calledAt);
    apply(outcome);
    overAtOnce.add(toolCallId, call, outcome);
    return { ...call, result, isError };
  }

  /** Whether the turn waits for the client's result. */
  const isAwaited = ({ handed }: DueCall) => Boolean(client?.isAwaited && handed?.answerBy);

  /**
   * Makes calls that the ledger has, or waits for the client that does. Does not wait for those in the background.
   * @param runningMax how many of those that we make, the first ones, the ledger has as RUNNING; the others are noted when they are made
   */
  async function make(due: readonly DueCall[], runningMax: number): Promise<ReadonlyMap<string, MadeCall>> {
    const inTurn = fewAtOnce({ what: "tool calls", atOnce: AT_ONCE, waitingMax: CALLS_OF_ROUND_MAX });
    const made = new Map<string, MadeCall>();
    const own = due.filter(({ handed }) => !handed);
    const running = due.map((each) => {
      const { key, call, tool, handed } = each;
      const isWaited = tool.rules.run === "wait";
      let hasBegun = false;
      const run = async () => {
        hasBegun = true;
        // Another turn may have given it up meanwhile.
        if (own.indexOf(each) >= runningMax && !(await ledger.start(key))) return;
        watch?.began(key.toolCallId, call.name, tool.rules);
        const outcome = handed?.answerBy
          ? await awaitClient(ledger, each, handed.answerBy, place(), signal)
          : await makeCall(ledger, each, place(), signal);
        made.set(key.toolCallId, outcome);
        if (isWaited) teller?.answered(key.toolCallId, outcome);
      };
      const begun = handed ? run() : inTurn(key.ownerId, isWaited ? signal : NEVER_GONE, run);
      const over = begun.catch(async (error) => {
        if (!hasBegun) await ledger.end(key, NOT_MADE, log);
        throw error;
      });
      // Nobody may wait for it anymore when it fails.
      over.catch(() => {}).finally(() => watch?.ended(key.toolCallId));
      return { key, over, isWaited };
    });
    const waited = running.filter(({ isWaited }) => isWaited);
    await ledger.detach(running.filter(({ isWaited }) => !isWaited));
    try {
      await untilAborted(Promise.all(waited.map(({ over }) => over)), signal);
    } catch (error) {
      await ledger.detach(waited.filter(({ key }) => !made.has(key.toolCallId)));
      throw error;
    }
    return made;
  }

  async function makeRound(due: readonly DueCall[], at: CallsAt): Promise<ReadonlyMap<string, MadeCall>> {
    const startedMs = sinceStart(performance.now());
    const now = place().clock.now();
    const own = due.filter(({ handed }) => !handed);
    const rows = due.map((each) =>
      rowOf(each, { runs: own.indexOf(each) < AT_ONCE, isAwaited: isAwaited(each), startedMs, now, at }),
    );
    if (!(await ledger.begin(turn, rows))) throw await parts.closed();
    overAtOnce.tell();
    for (const { key, call, handed } of due)
      teller?.called(key.toolCallId, call.name, handed?.json ?? JSON.stringify(call.input));
    handOver(client, due);
    return make(
      due.filter((each) => !each.handed || isAwaited(each)),
      AT_ONCE,
    );
  }

  function answered(each: AnsweredCall | DueCall, made: ReadonlyMap<string, MadeCall>): AnsweredCall {
    if (!isDue(each)) return each;
    if (each.handed && !isAwaited(each)) return { ...each.call, result: HANDED_OVER, isError: false };
    const outcome = made.get(each.key.toolCallId);
    if (!outcome || each.tool.rules.run === "background") {
      const running = { result: RUNNING, isError: false };
      teller?.answered(each.key.toolCallId, running);
      return { ...each.call, ...running };
    }
    apply(outcome);
    const { result, isError, isOutside } = outcome;
    return { ...each.call, result, isError, isOutside };
  }

  /** A call whose process died: made once more if its tool allows that, or waited for again. */
  async function take(earlier: EarlierToolCall): Promise<DueCall | null> {
    const { name, arguments: json, answerBy } = earlier;
    const key = keyOf(turn, earlier.toolCallId);
    const call = { name, json, input: parseObject(json) };
    const tool = toolbox.find(name, call);
    if (answerBy) {
      const isLate = answerBy < place().clock.now();
      if (!isLate && client?.isAwaited && isTimed(tool)) return { key, call, tool, handed: { json, answerBy } };
      await ledger.end(key, isLate ? NOT_ANSWERED : OVERTAKEN, log);
      return null;
    }
    const mayRepeat = isTimed(tool) && tool.rules.mayRepeat && earlier.mock === null && earlier.state === "RUNNING";
    if (mayRepeat && (await ledger.retake(key, earlier.attempts))) return { key, call, tool };
    await ledger.end(key, earlier.state === "RUNNING" ? LOST : NOT_MADE, log);
    return null;
  }

  return {
    answer(calls, at) {
      const begun = calls.map((call, number) => begin(call, number, at));
      const due = begun.filter(isDue);
      if (due.length > 0) return makeRound(due, at).then((made) => begun.map((each) => answered(each, made)));
      if (overAtOnce.isEmpty()) return begun as AnsweredCall[];
      return Promise.resolve().then(() => {
        overAtOnce.tell();
        return begun as AnsweredCall[];
      });
    },
    async resume(calls) {
      const due = (await Promise.all(calls.map(take))).filter((call) => call !== null);
      for (const outcome of (await make(due, due.length)).values()) apply(outcome);
    },
  };
}

function faultOf(call: ToolCall, number: number, tool: Tool | undefined): string | null {
  if (!tool) return "There is no such tool. Answer the user in words.";
  if (number >= CALLS_OF_ROUND_MAX)
    return `More than ${CALLS_OF_ROUND_MAX} tools were called at once, so this one was not. Call it again.`;
  return isTimed(tool) ? argumentsFault(call, tool.definition) : null;
}

function isTimed(tool: Tool | undefined): tool is DueCall["tool"] {
  return tool?.rules !== undefined;
}

function isDue(call: AnsweredCall | DueCall): call is DueCall {
  return "tool" in call;
}

function keyOf({ ownerId, conversationId }: CallingTurn, toolCallId: string): ToolCallKey {
  return { ownerId, conversationId, toolCallId };
}

interface Begun {
  /** Whether it is made at once, rather than after others. */
  runs: boolean;
  isAwaited: boolean;
  startedMs: number | null;
  now: Date;
  at: CallsAt;
}

function rowOf({ key, call, tool, handed }: DueCall, { runs, isAwaited, startedMs, now, at }: Begun): NewToolCall {
  const isOver = handed?.answerBy === null;
  const row = ledgeredToolCall({
    ...{ toolCallId: key.toolCallId, ...at, kind: tool.kind, name: call.name, arguments: call.json },
    ...{ state: isOver ? "SUCCEEDED" : runs ? "RUNNING" : "REQUESTED", result: isOver ? HANDED_OVER : "" },
    ...{ isOutside: false, status: null, note: null, attempts: 1, startedMs, durationMs: isOver ? 0 : null },
    mock: tool.mock ?? null,
  });
  return {
    ...row,
    isBackground: (!handed || isAwaited) && tool.rules.run === "background",
    handedAt: handed ? now : null,
    answerBy: handed?.answerBy ?? null,
  };
}

/** @throws the signal's reason, once it is aborted */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
