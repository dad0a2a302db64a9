import { ServiceError } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";
import { costUsdMicros, sumOfCosts } from "../../model/cost.ts";
import type { Hear, ModelEnd, ModelMessage, ModelName, ModelRequest, TokenUsage, ToolCall } from "../../model/port.ts";
import type { ModelLimits, ModelWatch } from "../../model/watch.ts";
import type { AnsweredCall, TurnTools } from "../../tools/turn-tools.ts";
import type { Handed } from "../handoffs.ts";
import { outOfTurnMemory } from "../turn-memory.ts";
import { type Reply, waitsForClient } from "./reply.ts";
import { wordCutter } from "./words.ts";

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
export async function speak(reply: Reply, speaking: Speaking): Promise<void> {
  const { ask, request, tools, farewell, handOver, watch, hasRoom, limits, roundsBefore = 0 } = speaking;
  let deadlineAt = performance.now() + limits.deadlineMs;
  const said: ModelMessage[] = [];
  const calls: ToolCall[] = [];
  /** Where the words of the agent begin that has to answer. */
  let answerFrom = 0;
  /** Characters of the tool calls and their results, which go back to the model. */
  let called = 0;
  const refuseWithoutRoom = () => {
    if (!hasRoom(reply.text.length + called)) throw outOfTurnMemory();
  };
  const words = spokenWords(reply, speaking, refuseWithoutRoom);

  async function passOnDecided(): Promise<void> {
    const handed = handOver();
    if (!handed) return;
    const { message, greeting, begin } = handed;
    await words.utter(message);
    begin();
    await words.utter(greeting);
    answerFrom = reply.text.length;
    reply.mayBeSilent = false;
    deadlineAt = performance.now() + limits.deadlineMs;
  }

  /** @returns the tools that the model calls */
  async function askModel(isLast: boolean): Promise<readonly ToolCall[]> {
    const hasWords = !isBlank(reply.text.slice(answerFrom));
    const firstWordMs = hasWords ? limits.stallMs : deadlineAt - performance.now();
    const before = reply.costUsdMicros;
    // The cost of a call that breaks off is unknown, because providers report tokens at the end.
    reply.costUsdMicros = null;
    const round = { ...request(said), firstWordMs, mayBeEmpty: hasWords || reply.mayBeSilent };
    const end = await ask(isLast ? { ...round, tools: [] } : round, words.hear);
    watch.pause();
    reply.by = end.by;
    reply.partialReason = end.partialReason;
    reply.usage = sum(reply.usage, end.usage);
    reply.costUsdMicros = sumOfCosts(before, costUsdMicros(end.by.price, end.usage));
    return end.toolCalls;
  }

  for (let round = roundsBefore + 1; ; round++) {
    await passOnDecided();
    const from = reply.text.length;
    const isLast = round > ROUNDS_MAX;
    const toolCalls = await askModel(isLast);
    if (toolCalls.length === 0 || isLast) break;
    calls.push(...toolCalls);
    const content = reply.text.slice(from);
    const calledAt = performance.now();
    const answers = tools.answer(toolCalls, { round, place: codePoints(reply.text) });
    if (answers instanceof Promise && !reply.ends) {
      answers.catch(() => {});
      await words.finish();
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
    refuseWithoutRoom();
    said.push({ role: "assistant", content: isBlank(content) ? "" : content, toolCalls: answered });
    await words.finish();
  }
  const owed = reply.text.slice(answerFrom);
  const isSilent = calls.length > 0 ? isBlank(owed) : owed === "";
  const lastWords = isSilent && reply.ends ? farewell(calls) : "";
  const maySayNothing = reply.mayBeSilent || waitsForClient(reply);
  if (isSilent && lastWords === "" && !maySayNothing) throw nothingSaid(reply.by);
  reply.isWhole = true;
  await words.end(lastWords);
}

/** The words of a reply: adds them to it, and says those that are complete. @param refuseWithoutRoom throws if the reply has no room */
function spokenWords(
  reply: Reply,
  { watch, limits, say }: Pick<Speaking, "watch" | "limits" | "say">,
  refuseWithoutRoom: () => void,
) {
  const cutter = wordCutter();
  return {
    /** Takes what the model says. @returns a promise while the reader is behind, or null */
    hear(heard: string, by: ModelName): Promise<void> | null {
      watch.pause();
      reply.by = by;
      reply.firstTextAt ??= performance.now();
      const text = heard.slice(0, limits.charactersMax - reply.text.length);
      reply.text += text;
      const complete = cutter.push(text);
      const wait = complete === "" ? null : unawaited(say(complete));
      if (text !== heard) throw tooLong(by, limits);
      refuseWithoutRoom();
      if (wait) return unawaited(wait.then(watch.resume));
      watch.resume();
      return null;
    },
    /** The text so far is final, and what follows begins with a new word. */
    async finish(): Promise<void> {
      const seam = /\S$/.test(reply.text) ? " " : "";
      reply.text += seam;
      const rest = cutter.push(seam) + cutter.end();
      if (rest !== "") await say(rest);
    },
    /** Says a line that no model wrote. */
    async utter(line: string): Promise<void> {
      if (isBlank(line)) return;
      const text = `${line.trim()} `;
      reply.text += text;
      reply.firstTextAt ??= performance.now();
      refuseWithoutRoom();
      await say(cutter.push(text) + cutter.end());
    },
    /** Says the rest. @param text the last words of the reply */
    async end(text: string): Promise<void> {
      reply.text += text;
      const rest = cutter.push(text) + cutter.end();
      if (rest !== "") await say(rest);
    },
  };
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
