import { newId } from "@parley/shared/ids";
import { parseObject } from "@parley/shared/json/json-object";
import type { Logger } from "@parley/shared/log";
import { fewAtOnce } from "@parley/shared/shares/few-at-once";
import type { AnsweredToolCall, ToolCall } from "../model/port.ts";
import { keepToolCall, keptToolCall, ledgeredToolCall, type ToolCallRow } from "../store/turns/kept-tool-calls.ts";
import type { CallingTurn, EarlierToolCall, NewToolCall, ToolCallKey } from "../store/turns/tool-ledger.ts";
import { argumentsFault } from "./arguments.ts";
import { LOST, NOT_ANSWERED, NOT_MADE, OVERTAKEN } from "./call-ends.ts";
import type { ToolLedger } from "./ledger.ts";
import { type CallPlace, countCall, type DueCall, type MadeCall, makeCall } from "./make-call.ts";
import { failed, type Tool, type ToolOutcome, type ToolRules } from "./tool.ts";
import type { Toolbox } from "./toolbox.ts";

/** A call with its result, as it goes back to the model. */
export type AnsweredCall = ToolCall & AnsweredToolCall;

/** Where in a turn calls are made. */
export interface CallsAt {
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

/** A call that the client makes. */
export interface ClientCall {
  toolCallId: string;
  name: string;
  /** A JSON object. */
  arguments: string;
  /** Whether the model waits for the result. */
  wait: boolean;
}

/** Learns of every call, and of the results that the model is told in the same turn. */
export interface ToolTeller {
  called(toolCallId: string, name: string, json: string): void;
  answered(toolCallId: string, outcome: Pick<ToolOutcome, "result" | "isError">): void;
}

/** Learns of calls that take time. */
export interface CallWatch {
  began(toolCallId: string, name: string, rules: ToolRules): void;
  /** The call ended, or the turn no longer waits for it. */
  ended(toolCallId: string): void;
}

export interface TurnToolsParts {
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
  /** Takes the calls that the client makes; without it, there is no client. */
  toClient?: ((calls: readonly ClientCall[]) => void) | undefined;
  log: Logger;
}

/** Calls of one round; the model is told to make further ones later. */
export const CALLS_OF_ROUND_MAX = 40;
/** The others of a round wait. */
const AT_ONCE = 8;
/** What the model is told at once of a call in the background. */
export const RUNNING = JSON.stringify({ status: "running" });
/** What it is told of a call that the client makes without a result. */
export const HANDED_OVER = JSON.stringify({ status: "handed over" });
const NEVER = new AbortController().signal;

export function turnTools(parts: TurnToolsParts): TurnTools {
  const { ledger, toolbox, turn, place, signal, apply, watch, teller, toClient, log } = parts;

  /** Calls that were over at once, until the words before them have been told. */
  const told: { toolCallId: string; call: ToolCall; outcome: ToolOutcome }[] = [];
  const sinceStart = (at: number) => (parts.startedAt === null ? null : at - parts.startedAt);

  /** Answers a call that is over at once; returns another one, to be made. */
  function begin(call: ToolCall, number: number, at: CallsAt): AnsweredCall | DueCall {
    const calledAt = performance.now();
    const toolCallId = newId("tcl");
    const tool = toolbox.find(call.name);
    const handed = toClient && tool?.client?.argumentsOf(call.input ?? {}, place().variables);
    const fault = faultOf(call, number, tool) ?? (typeof handed === "string" ? handed : null);
    const isMade = isTimed(tool) && (tool.client === undefined || handed !== undefined);
    if (fault === null && isMade)
      return { key: keyOf(turn, toolCallId), call, tool, handed: handed && JSON.stringify(handed) };
    const outcome =
      fault === null && tool
        ? (tool.run(call, { ...place(), toolCallId, signal }) as ToolOutcome)
        : failed(fault ?? "");
    const { result, isError, status = null, note = null, attempts = 1 } = outcome;
    const row: Omit<ToolCallRow, "isCut"> = {
      ...{ toolCallId, ...at, kind: tool?.kind ?? "builtin", name: call.name, arguments: call.json },
      ...{ state: isError ? "FAILED" : "SUCCEEDED", result, isOutside: false, status, note, attempts },
      startedMs: sinceStart(calledAt),
      durationMs: performance.now() - calledAt,
    };
    keepToolCall(parts.kept, keptToolCall(row));
    countCall(row.kind, row.state, calledAt);
    apply(outcome);
    if (teller) told.push({ toolCallId, call, outcome });
    return { ...call, result, isError };
  }

  function tellOver(): void {
    for (const { toolCallId, call, outcome } of told.splice(0)) {
      teller?.called(toolCallId, call.name, JSON.stringify(call.input ?? {}));
      teller?.answered(toolCallId, outcome);
    }
  }

  /**
   * Makes calls that the ledger has. Does not wait for those in the background.
   * @param runningMax how many of them, the first ones, the ledger has as RUNNING; the others are noted when they are made
   */
  async function make(due: readonly DueCall[], runningMax: number): Promise<ReadonlyMap<string, MadeCall>> {
    const inTurn = fewAtOnce({ what: "tool calls", atOnce: AT_ONCE, waitingMax: CALLS_OF_ROUND_MAX });
    const made = new Map<string, MadeCall>();
    const running = due.map((each, number) => {
      const { key, call, tool } = each;
      const isWaited = tool.rules.run === "wait";
      let hasBegun = false;
      const run = async () => {
        hasBegun = true;
        // Another turn may have given it up meanwhile.
        if (number >= runningMax && !(await ledger.start(key))) return;
        watch?.began(key.toolCallId, call.name, tool.rules);
        const outcome = await makeCall(ledger, each, place(), signal);
        made.set(key.toolCallId, outcome);
        if (isWaited) teller?.answered(key.toolCallId, outcome);
      };
      const over = inTurn(key.ownerId, isWaited ? signal : NEVER, run).catch(async (error) => {
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
    const own = due.filter(({ handed }) => handed === undefined);
    const handed = due.flatMap(clientCallOf);
    const rows = due.map((each) => rowOf(each, own.indexOf(each) < AT_ONCE, { startedMs, now, at }));
    if (!(await ledger.begin(turn, rows))) throw await parts.closed();
    tellOver();
    for (const { key, call, handed = JSON.stringify(call.input) } of due)
      teller?.called(key.toolCallId, call.name, handed);
    if (handed.length > 0) toClient?.(handed);
    for (const { wait } of handed) if (!wait) countCall("client", "SUCCEEDED", performance.now());
    return make(own, AT_ONCE);
  }

  function answered(each: AnsweredCall | DueCall, made: ReadonlyMap<string, MadeCall>): AnsweredCall {
    if (!isDue(each)) return each;
    if (each.handed !== undefined) return { ...each.call, result: HANDED_OVER, isError: false };
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

  /** A call whose process died: made once more if its tool allows that. */
  async function take(call: EarlierToolCall): Promise<DueCall | null> {
    const key = keyOf(turn, call.toolCallId);
    const tool = toolbox.find(call.name);
    if (call.answerBy) {
      const isLate = call.answerBy < place().clock.now();
      await ledger.end(key, isLate ? NOT_ANSWERED : OVERTAKEN, log);
      return null;
    }
    const mayRepeat = isTimed(tool) && tool.rules.mayRepeat && call.state === "RUNNING";
    if (mayRepeat && (await ledger.retake(key, call.attempts)))
      return { key, call: { name: call.name, json: call.arguments, input: parseObject(call.arguments) }, tool };
    await ledger.end(key, call.state === "RUNNING" ? LOST : NOT_MADE, log);
    return null;
  }

  return {
    answer(calls, at) {
      const begun = calls.map((call, number) => begin(call, number, at));
      const due = begun.filter(isDue);
      if (due.length > 0) return makeRound(due, at).then((made) => begun.map((each) => answered(each, made)));
      if (told.length === 0) return begun as AnsweredCall[];
      return Promise.resolve().then(() => {
        tellOver();
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

function clientCallOf({ key, call, tool, handed }: DueCall): ClientCall[] {
  if (handed === undefined) return [];
  return [{ toolCallId: key.toolCallId, name: call.name, arguments: handed, wait: tool.client?.wait ?? false }];
}

interface Begun {
  startedMs: number | null;
  now: Date;
  at: CallsAt;
}

/** @param runs whether it is made at once, rather than after others */
function rowOf({ key, call, tool, handed }: DueCall, runs: boolean, { startedMs, now, at }: Begun): NewToolCall {
  const isHanded = handed !== undefined;
  const isOver = isHanded && !tool.client?.wait;
  const row = ledgeredToolCall({
    ...{ toolCallId: key.toolCallId, ...at, kind: tool.kind, name: call.name, arguments: call.json },
    ...{ state: isOver ? "SUCCEEDED" : runs ? "RUNNING" : "REQUESTED", result: isOver ? HANDED_OVER : "" },
    ...{ isOutside: false, status: null, note: null, attempts: 1, startedMs, durationMs: isOver ? 0 : null },
  });
  return {
    ...row,
    isBackground: !isHanded && tool.rules.run === "background",
    handedAt: isHanded ? now : null,
    answerBy: isHanded && !isOver ? new Date(now.getTime() + tool.rules.timeoutMs) : null,
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
