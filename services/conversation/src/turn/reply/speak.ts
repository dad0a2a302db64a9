import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";
import { costUsdMicros, sumOfCosts } from "../../model/cost.ts";
import type { Hear, ModelEnd, ModelMessage, ModelName, ModelRequest, TokenUsage, ToolCall } from "../../model/port.ts";
import type { ModelLimits, ModelWatch } from "../../model/watch.ts";
import type { ReplyKnowledge } from "../../store/reply-knowledge.ts";
import type { ToolCallRow } from "../../store/turns/kept-tool-calls.ts";
import type { ClientCall } from "../../tools/client-calls.ts";
import type { AnsweredCall, TurnTools } from "../../tools/turn-tools.ts";
import type { Handed } from "../handoffs.ts";
import { outOfTurnMemory } from "../turn-memory.ts";
import { wordCutter } from "./words.ts";

/** A turn's reply. It grows while the model speaks, and is stored as it is when the turn ends. */
export interface Reply {
  text: string;
  /** The agent and the model that spoke last. */
  agent: AgentRuntime;
  by: ModelName;
  /** The sum over all calls of the turn. */
  usage: TokenUsage;
  /** The cost of all calls so far, in millionths of a US dollar; null while one is in progress, or if that of one is unknown. */
  costUsdMicros: number | null;
  /** When the turn began, in `performance.now()` time, as `firstTextAt`. */
  startedAt: number;
  firstTextAt: number | null;
  /** Tool calls that were over at once. The ledger has the others. */
  toolCalls: ToolCallRow[];
  /** Calls for the client to make. */
  clientCalls: ClientCall[];
  /** What its models were given of knowledge bases; null for nothing. */
  knowledge: ReplyKnowledge | null;
  /** Set by the model in this turn: a BCP 47 tag. */
  language: string | null;
  /** Whether the conversation ends with this reply. */
  ends: boolean;
  /** Whether the conversation is rejected: these are words of the agent's start webhook. */
  isRejected: boolean;
  /** Whether the model need not say anything, because a tool has answered for it. */
  mayBeSilent: boolean;
  /** Whether the turn came to its end, and the client has all of the reply. */
  isWhole: boolean;
  /** Why the model's answer is not whole, in its provider's words; null if it is, or if the reply broke off. */
  partialReason: string | null;
}

export function emptyReply(agent: AgentRuntime, { provider, name }: ModelName): Reply {
  return {
    text: "",
    agent,
    by: { provider, name },
    usage: { inputTokens: undefined, outputTokens: undefined },
    costUsdMicros: 0,
    startedAt: performance.now(),
    firstTextAt: null,
    toolCalls: [],
    clientCalls: [],
    knowledge: null,
    language: null,
    ends: false,
    isRejected: false,
    mayBeSilent: false,
    isWhole: false,
    partialReason: null,
  };
}

/** Whether the turn ends because the model waits for results of the client, which come with its next request. */
export function waitsForClient({ clientCalls }: Reply): boolean {
  return clientCalls.some(({ wait }) => wait);
}

/** One call of a model. */
export type Ask = (request: ModelRequest, hear: Hear) => Promise<ModelEnd>;

export interface Speaking {
  ask: Ask;
  /** What the model sees, with what it said and called so far in this turn. */
  request(said: readonly ModelMessage[]): ModelRequest;
  tools: Pick<TurnTools, "answer">;
  /** The last words, if the model ends the conversation with these calls and says nothing. */
  farewell(calls: readonly ToolCall[]): string;
  /** The handoff that the last calls decided; null if none did. */
  handOver(): Handed | null;
  watch: ModelWatch;
  /** Whether there is room for a reply of this many characters. */
  hasRoom(characters: number): boolean;
  limits: ModelLimits;
  /** Requests of the turn before the client gave its results. */
  roundsBefore?: number | undefined;
  /** Takes the next piece of the reply. @returns a promise while its reader is behind, or null */
  say(piece: string): Promise<void> | null;
}

/** Requests of one turn in which the model may call tools. In the next one it must answer. */
const ROUNDS_MAX = 8;

/**
 * Asks the model, again while it calls tools, and says its words as they complete.
 * @throws ServiceError upstream_failed when it has nothing to say, and what a model throws
 */
export async function speak(
  reply: Reply,
  { ask, request, tools, farewell, handOver, watch, hasRoom, limits, roundsBefore = 0, say }: Speaking,
): Promise<void> {
  const words = wordCutter();
  let deadlineAt = performance.now() + limits.deadlineMs;
  const said: ModelMessage[] = [];
  const calls: ToolCall[] = [];
  /** Where the words of the agent begin that has to answer. */
  let answerFrom = 0;
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

  /** The text so far is final, and the next round begins with a new word. */
  async function finishWords(): Promise<void> {
    const seam = /\S$/.test(reply.text) ? " " : "";
    reply.text += seam;
    const rest = words.push(seam) + words.end();
    if (rest !== "") await say(rest);
  }

  /** Says a line that no model wrote. */
  async function utter(line: string): Promise<void> {
    if (isBlank(line)) return;
    const text = `${line.trim()} `;
    reply.text += text;
    reply.firstTextAt ??= performance.now();
    if (!hasRoom(reply.text.length + called)) throw outOfTurnMemory();
    await say(words.push(text) + words.end());
  }

  async function passOnDecided(): Promise<void> {
    const handed = handOver();
    if (!handed) return;
    const { message, greeting, begin } = handed;
    await utter(message);
    begin();
    await utter(greeting);
    answerFrom = reply.text.length;
    reply.mayBeSilent = false;
    deadlineAt = performance.now() + limits.deadlineMs;
  }

  for (let round = roundsBefore + 1; ; round++) {
    await passOnDecided();
    const hasWords = !isBlank(reply.text.slice(answerFrom));
    const firstWordMs = hasWords ? limits.stallMs : deadlineAt - performance.now();
    const from = reply.text.length;
    const before = reply.costUsdMicros;
    // The cost of a call that breaks off is unknown, because providers report tokens at the end.
    reply.costUsdMicros = null;
    const asked = { ...request(said), firstWordMs, mayBeEmpty: hasWords || reply.mayBeSilent };
    const { by, toolCalls, usage, partialReason } = await ask(
      round > ROUNDS_MAX ? { ...asked, tools: [] } : asked,
      hear,
    );
    watch.pause();
    reply.by = by;
    reply.partialReason = partialReason;
    reply.usage = sum(reply.usage, usage);
    reply.costUsdMicros = sumOfCosts(before, costUsdMicros(by.price, usage));
    if (toolCalls.length === 0 || round > ROUNDS_MAX) break;
    calls.push(...toolCalls);
    const content = reply.text.slice(from);
    const calledAt = performance.now();
    const answers = tools.answer(toolCalls, { round, place: codePoints(reply.text) });
    if (answers instanceof Promise && !reply.ends) {
      answers.catch(() => {});
      await finishWords();
    }
    const answered = answers instanceof Promise ? await answers : answers;
    // The model's time does not run while it waits for its tools.
    deadlineAt += performance.now() - calledAt;
    if (reply.ends) break;
    if (waitsForClient(reply)) {
      // The other agent answers the client's results.
      await passOnDecided();
      break;
    }
    called += charactersOf(answered);
    if (!hasRoom(reply.text.length + called)) throw outOfTurnMemory();
    said.push({ role: "assistant", content: isBlank(content) ? "" : content, toolCalls: answered });
    await finishWords();
  }
  const owed = reply.text.slice(answerFrom);
  const isSilent = calls.length > 0 ? isBlank(owed) : owed === "";
  const lastWords = isSilent && reply.ends ? farewell(calls) : "";
  const maySayNothing = reply.mayBeSilent || waitsForClient(reply);
  if (isSilent && lastWords === "" && !maySayNothing) throw nothingSaid(reply.by);
  reply.text += lastWords;
  reply.isWhole = true;
  const rest = words.push(lastWords) + words.end();
  if (rest !== "") await say(rest);
}

/** What models say with a call when they say nothing is white space. */
function isBlank(text: string): boolean {
  return !/\S/.test(text);
}

/** Of a call's name and result, and of its input, which is held as text and as values. */
function charactersOf(calls: readonly AnsweredCall[]): number {
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
