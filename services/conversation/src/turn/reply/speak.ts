import { ServiceError } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";
import { costUsdMicros, sumOfCosts } from "../../model/cost.ts";
import type {
  AnsweredToolCall,
  Hear,
  ModelEnd,
  ModelName,
  ModelRequest,
  TokenUsage,
  ToolCall,
} from "../../model/port.ts";
import type { ModelLimits, ModelWatch } from "../../model/watch.ts";
import { type KeptToolCall, keepToolCall, keptToolCall } from "../../store/turns/kept-tool-calls.ts";
import type { CallAction, ToolOutcome } from "../../tools/tool.ts";
import { outOfTurnMemory } from "../turn-memory.ts";
import { wordCutter } from "./words.ts";

/** A turn's reply. It grows while the model speaks, and is stored as it is when the turn ends. */
export interface Reply {
  text: string;
  /** The model that spoke last. */
  by: ModelName;
  /** The sum over all calls of the turn. */
  usage: TokenUsage;
  /** The cost of all calls so far, in millionths of a US dollar; null while one is in progress, or if that of one is unknown. */
  costUsdMicros: number | null;
  /** When the turn began, in `performance.now()` time, as `firstTextAt`. */
  startedAt: number;
  firstTextAt: number | null;
  toolCalls: KeptToolCall[];
  /** Set by the model in this turn: a BCP 47 tag. */
  language: string | null;
  /** Whether the conversation ends with this reply. */
  ends: boolean;
  /** Whether the turn came to its end, and the client has all of the reply. */
  isWhole: boolean;
  /** Why the model's answer is not whole, in its provider's words; null if it is, or if the reply broke off. */
  partialReason: string | null;
}

export function emptyReply({ provider, name }: ModelName): Reply {
  return {
    text: "",
    by: { provider, name },
    usage: { inputTokens: undefined, outputTokens: undefined },
    costUsdMicros: 0,
    startedAt: performance.now(),
    firstTextAt: null,
    toolCalls: [],
    language: null,
    ends: false,
    isWhole: false,
    partialReason: null,
  };
}

/** One call of a model. */
export type Ask = (request: ModelRequest, hear: Hear) => Promise<ModelEnd>;

export interface Speaking {
  ask: Ask;
  request: ModelRequest;
  /** Makes a tool call. */
  run(call: ToolCall): ToolOutcome | Promise<ToolOutcome>;
  /** The last words, if the model ends the conversation with these calls and says nothing. */
  farewell(calls: readonly ToolCall[]): string;
  watch: ModelWatch;
  /** Whether there is room for a reply of this many characters. */
  hasRoom(characters: number): boolean;
  limits: ModelLimits;
  /** Takes the next piece of the reply. @returns a promise while its reader is behind, or null */
  say(piece: string): Promise<void> | null;
  /** Takes what the model decides to do. */
  act?(action: CallAction): void;
}

/** The most calls of a model in one turn, however often it calls tools. */
const ROUNDS_MAX = 4;

/**
 * Asks the model, again while it calls tools, and says its words as they complete.
 * @throws ServiceError upstream_failed when it has nothing to say, and what a model throws
 */
export async function speak(
  reply: Reply,
  { ask, request, run, farewell, watch, hasRoom, limits, say, act }: Speaking,
): Promise<void> {
  const words = wordCutter();
  const deadlineAt = performance.now() + limits.deadlineMs;
  let { messages } = request;
  const calls: ToolCall[] = [];
  /** Characters of the tool calls and their results, which go back to the model. */
  let called = 0;

  function hear(heard: string, by: ModelName): Promise<void> | null {
    watch.pause();
    reply.by = by;
    reply.firstTextAt ??= performance.now();
    const text = heard.slice(0, limits.charactersMax - reply.text.length);
    reply.text += text;
    const complete = words.push(text);
    const wait = complete === "" ? null : unawaited(say(complete));
    if (text !== heard) throw tooLong(by, limits);
    if (!hasRoom(reply.text.length + called)) throw outOfTurnMemory();
    if (wait) return unawaited(wait.then(watch.resume));
    watch.resume();
    return null;
  }

  async function answer(call: ToolCall, offset: number): Promise<ToolCall & AnsweredToolCall> {
    const { name, json } = call;
    const calledAt = performance.now();
    const { result, isError, language, ends, action } = await run(call);
    const [startedMs, durationMs] = [calledAt - reply.startedAt, performance.now() - calledAt];
    keepToolCall(
      reply.toolCalls,
      keptToolCall({ name, arguments: json, result, isError, startedMs, durationMs, offset }),
    );
    if (language !== undefined) reply.language = language;
    if (ends) reply.ends = true;
    if (action) act?.(action);
    return { ...call, result, isError };
  }

  for (let round = 1; ; round++) {
    const firstWordMs = reply.text === "" ? deadlineAt - performance.now() : limits.stallMs;
    const from = reply.text.length;
    const before = reply.costUsdMicros;
    // The cost of a call that breaks off is unknown, because providers report tokens at the end.
    reply.costUsdMicros = null;
    const mayBeEmpty = reply.text !== "";
    const { by, toolCalls, usage, partialReason } = await ask({ ...request, messages, firstWordMs, mayBeEmpty }, hear);
    watch.pause();
    reply.by = by;
    reply.partialReason = partialReason;
    reply.usage = sum(reply.usage, usage);
    reply.costUsdMicros = sumOfCosts(before, costUsdMicros(by.price, usage));
    calls.push(...toolCalls);
    const offset = toolCalls.length > 0 ? codePoints(reply.text) : 0;
    const answered: (ToolCall & AnsweredToolCall)[] = [];
    for (const call of toolCalls) answered.push(await answer(call, offset));
    if (answered.length === 0 || reply.ends || round === ROUNDS_MAX) break;
    called += charactersOf(answered);
    if (!hasRoom(reply.text.length + called)) throw outOfTurnMemory();
    messages = [...messages, { role: "assistant", content: reply.text.slice(from), toolCalls: answered }];
    // The text so far is final, and the next round begins with a new word.
    const seam = /\S$/.test(reply.text) ? " " : "";
    reply.text += seam;
    const said = words.push(seam) + words.end();
    if (said !== "") await say(said);
  }
  const lastWords = reply.text === "" && reply.ends ? farewell(calls) : "";
  reply.text += lastWords;
  if (reply.text === "") throw nothingSaid(reply.by);
  reply.isWhole = true;
  const rest = words.push(lastWords) + words.end();
  if (rest !== "") await say(rest);
}

/** Of a call's name and result, and of its input, which is held as text and as values. */
function charactersOf(calls: readonly (ToolCall & AnsweredToolCall)[]): number {
  return calls.reduce((sum, { name, json, result }) => sum + name.length + 2 * json.length + result.length, 0);
}

/** A reply that fails meanwhile no longer awaits its reader, who may be given up later: an unhandled rejection would end the process. */
function unawaited<T extends Promise<void> | null>(wait: T): T {
  wait?.catch(() => {});
  return wait;
}

function sum(a: TokenUsage, b: TokenUsage): TokenUsage {
  const add = (x: number | undefined, y: number | undefined) => (x === undefined ? y : x + (y ?? 0));
  return {
    inputTokens: add(a.inputTokens, b.inputTokens),
    outputTokens: add(a.outputTokens, b.outputTokens),
  };
}

function tooLong({ provider }: ModelName, { charactersMax }: ModelLimits): ServiceError {
  return new ServiceError("upstream_failed", `The ${provider} model said more than ${charactersMax} characters`);
}

function nothingSaid({ provider }: ModelName): ServiceError {
  return new ServiceError("upstream_failed", `The ${provider} model called tools and said nothing`);
}
