import { ServiceError } from "@parley/shared/errors";
import type { AnsweredToolCall, ModelEvent, ModelName, ModelRequest, TokenUsage, ToolCall } from "../model/port.ts";
import type { ModelLimits, ModelWatch } from "../model/watch.ts";
import { type AgentTools, farewellOf, runTool } from "./tools.ts";
import { outOfTurnMemory } from "./turn-memory.ts";
import { wordCutter } from "./words.ts";

/** What there is of a turn's reply: it grows while the model speaks, and whoever ends the turn stores what there is. */
export interface Reply {
  text: string;
  /** The model that spoke last. */
  by: ModelName;
  /** Over all of the turn's calls. */
  usage: TokenUsage;
  firstTextAt: number | null;
  /** Set by the model in this turn: a BCP 47 tag. */
  language: string | null;
  /** The conversation ends with it. */
  ends: boolean;
  isWhole: boolean;
}

export function emptyReply({ provider, name }: ModelName): Reply {
  return {
    text: "",
    by: { provider, name },
    usage: { inputTokens: undefined, outputTokens: undefined },
    firstTextAt: null,
    language: null,
    ends: false,
    isWhole: false,
  };
}

/** One call of a model. */
export type Ask = (request: ModelRequest) => AsyncIterable<ModelEvent>;

export interface Speaking {
  ask: Ask;
  request: ModelRequest;
  tools: AgentTools;
  watch: ModelWatch;
  /** Whether there is room for a reply of so many characters. */
  hasRoom(characters: number): boolean;
  limits: ModelLimits;
}

/** A model that goes on calling tools is not asked for ever. */
const ROUNDS_MAX = 4;

/**
 * Has the model speak, round by round while it calls tools, and gives its words as they are complete.
 * @throws ServiceError upstream_failed when it has nothing to say, and what a model throws
 */
export async function* speak(
  reply: Reply,
  { ask, request, tools, watch, hasRoom, limits }: Speaking,
): AsyncGenerator<string> {
  const words = wordCutter();
  const deadlineAt = performance.now() + limits.deadlineMs;
  const messages = [...request.messages];
  const calls: ToolCall[] = [];
  for (let round = 1; ; round++) {
    const firstWordMs = reply.text === "" ? deadlineAt - performance.now() : limits.stallMs;
    const from = { text: reply.text.length, calls: calls.length };
    for await (const event of ask({ ...request, messages, firstWordMs })) {
      watch.pause();
      reply.by = event.by;
      if (event.type === "tool_call") calls.push(event.call);
      else if (event.type === "finish") reply.usage = sum(reply.usage, event.usage);
      else {
        reply.firstTextAt ??= performance.now();
        const text = event.text.slice(0, limits.charactersMax - reply.text.length);
        reply.text += text;
        const complete = words.push(text);
        if (complete !== "") yield complete;
        if (text !== event.text) throw tooLong(reply.by, limits);
        if (!hasRoom(reply.text.length)) throw outOfTurnMemory();
      }
      watch.resume();
    }
    watch.pause();
    const answered = calls.slice(from.calls).map((call) => answer(reply, call, tools));
    if (answered.length === 0 || reply.ends || round === ROUNDS_MAX) break;
    messages.push({ role: "assistant", content: reply.text.slice(from.text), toolCalls: answered });
    // What was said stands, and what follows begins with a word of its own.
    const seam = /\S$/.test(reply.text) ? " " : "";
    reply.text += seam;
    const said = words.push(seam) + words.end();
    if (said !== "") yield said;
  }
  const farewell = reply.text === "" && reply.ends ? farewellOf(calls, tools) : "";
  reply.text += farewell;
  if (reply.text === "") throw nothingSaid(reply.by, calls);
  reply.isWhole = true;
  const rest = words.push(farewell) + words.end();
  if (rest !== "") yield rest;
}

function answer(reply: Reply, call: ToolCall, tools: AgentTools): AnsweredToolCall {
  const { result, isError, language, ends } = runTool(call, tools);
  if (language !== undefined) reply.language = language;
  if (ends) reply.ends = true;
  return { ...call, result, isError };
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

function nothingSaid({ provider }: ModelName, calls: readonly ToolCall[]): ServiceError {
  const what = calls.length > 0 ? "called tools and said nothing" : "gave an empty answer";
  return new ServiceError("upstream_failed", `The ${provider} model ${what}`);
}
