import type { Answer } from "@parley/shared/egress/answer";
import { createParser } from "eventsource-parser";
import { storable } from "../../storable.ts";
import type { Send } from "../bounded-fetch.ts";
import { tokenCount } from "../cost.ts";
import { brokenAnswer, endlessStream, failureOf, isBrokenConnection, refusedCall, unreachable } from "../failure.ts";
import type { Asked, Model, ModelEnd, ModelName, ModelReply, ModelRequest, TokenUsage } from "../port.ts";
import { callOptions, type ModelSettings } from "../prompt.ts";
import { metered } from "../received.ts";
import { toolCall, toolCallBounds } from "../tool-call.ts";
import { bodyTexts } from "./body-texts.ts";
import { jsonReader } from "./long-json.ts";
import type { WriteRequest, WrittenRequest } from "./written-request.ts";

/**
 * A model that speaks OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat). The AI SDK writes
 * the requests, in which the providers differ. The answers are read here: the SDK checks every word against a schema and
 * passes it through four streams, which costs more than the rest of a streamed turn.
 */
export function chatCompletionsModel(
  by: ModelName,
  writeRequest: WriteRequest,
  settings: ModelSettings,
  send: Send,
): Model {
  let ahead: { asked: Asked; messages: ModelRequest["messages"]; written: Promise<WrittenRequest> } | null = null;

  function write(request: ModelRequest, asked: Asked): Promise<WrittenRequest> {
    return writeRequest(callOptions(request, settings), asked);
  }

  /** Takes the request that was written ahead, if it is this one. */
  function takeWritten({ messages }: ModelRequest, asked: Asked): Promise<WrittenRequest> | null {
    const taken = ahead;
    ahead = null;
    return taken?.messages === messages && taken.asked === asked ? taken.written : null;
  }

  async function ask(asked: Asked, request: ModelRequest, signal: AbortSignal): Promise<Answer> {
    const { url, init } = await (takeWritten(request, asked) ?? write(request, asked));
    const answer = await send(url, { ...init, signal }).catch((error: unknown) => {
      throw isBrokenConnection(error) ? unreachable(by.provider, error) : error;
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    answer.cancel();
    throw refusedCall(by.provider, answer);
  }

  return {
    ...by,
    write(request, asked) {
      const { messages } = request;
      ahead = { asked, messages, written: write(request, asked) };
      // The call that takes it reports its failure.
      ahead.written.catch(() => {});
    },
    async stream(request, signal, hear) {
      const metering = metered(request.meter, signal, request.ahead);
      let body: Answer | undefined;
      try {
        const answer = streamReader(by);
        const texts = bodyTexts(request.meter?.ownerId ?? null);
        const read = (received: string, leftBytes: number) => {
          metering.read(leftBytes);
          const text = answer.read(received);
          let wait: Promise<void> | null = null;
          if (text !== "") {
            metering.passedOn(leftBytes);
            wait = hear(text, by);
          }
          if (answer.failure) throw answer.failure;
          return wait;
        };
        body = await ask("streamed", request, signal);
        for (let next = await body.read(); next; next = await body.read()) await texts.parse(next, read);
        return answer.end();
      } catch (error) {
        throw failureOf(isBrokenConnection(error) ? brokenAnswer(by.provider, error) : error, by.provider, signal);
      } finally {
        body?.cancel();
      }
    },
    async complete(request, signal) {
      metered(request.meter, signal);
      let body: Answer | undefined;
      try {
        const answer = jsonReader();
        const texts = bodyTexts(request.meter?.ownerId ?? null);
        const push = (received: string) => {
          answer.push(received);
          return request.parsed?.(received.length) ?? null;
        };
        body = await ask("whole", request, signal);
        for (let next = await body.read(); next; next = await body.read()) await texts.parse(next, push);
        return wholeReply(by, answer.end());
      } catch (error) {
        throw failureOf(isBrokenConnection(error) ? brokenAnswer(by.provider, error) : error, by.provider, signal);
      } finally {
        body?.cancel();
      }
    },
  };
}

/** The parts of an answer that are read. Providers leave out what they do not have, or send null. */
interface Completion {
  choices?: { delta?: Message | null; message?: Message | null; finish_reason?: string | null }[];
  usage?: Usage | null;
  x_groq?: { usage?: Usage | null } | null;
  error?: unknown;
}

interface Message {
  content?: string | ContentPart[] | null;
  /** Takes the place of the content when the model refuses to answer. */
  refusal?: unknown;
  tool_calls?: ToolCallDelta[] | null;
}

interface ContentPart {
  type: string;
  text?: unknown;
}

interface ToolCallDelta {
  index?: number | null;
  id?: string | null;
  function?: { name?: unknown; arguments?: unknown } | null;
}

interface Usage {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  prompt_tokens_details?: { cached_tokens?: unknown; cache_write_tokens?: unknown } | null;
}

/** Limit for an event of a stream, which is parsed at once: a few words have some hundreds of characters. */
const EVENT_CHARACTERS_MAX = 256 * 1024;

interface StreamReader {
  /** Returns the text in the next characters of the body. */
  read(received: string): string;
  /** What made the stream unreadable, an error that the provider reported included; undefined so far. */
  readonly failure: unknown;
  /** @throws ModelFailure when the stream ended without a finish reason */
  end(): ModelEnd;
}

function streamReader(by: ModelName): StreamReader {
  const calls = new Map<number, { id: string; name: string; input: string }>();
  const bounds = toolCallBounds();
  let lastCall = -1;
  let usage = NO_USAGE;
  let finishReason: string | undefined;
  let begun = false;
  let text = "";
  let failure: unknown;

  function readEvent(data: string): void {
    if (data === "[DONE]") return;
    const chunk = completion(JSON.parse(data));
    usage = usageOf(chunk) ?? usage;
    const [choice] = chunk.choices;
    if (choice?.delta) text += textOf(choice.delta);
    for (const delta of choice?.delta?.tool_calls ?? []) readToolCall(delta);
    finishReason = choice?.finish_reason ?? finishReason;
  }

  /** Most providers number the calls; some send each one whole, with an id of its own. */
  function readToolCall({ index, id, function: called }: ToolCallDelta): void {
    const isNext = id && id !== calls.get(lastCall)?.id;
    lastCall = index ?? (isNext || lastCall < 0 ? lastCall + 1 : lastCall);
    let call = calls.get(lastCall);
    if (!call) {
      bounds.begin();
      call = { id: id ?? "", name: "", input: "" };
      calls.set(lastCall, call);
    }
    call.name ||= bounds.text(called?.name);
    call.input += bounds.text(called?.arguments);
  }

  const parser = createParser({
    onEvent: ({ data }) => readEvent(data),
    onError: (error) => {
      if (error.type === "max-buffer-size-exceeded") failure = error;
    },
    maxBufferSize: EVENT_CHARACTERS_MAX,
  });
  return {
    read(received) {
      text = "";
      try {
        parser.feed(received);
      } catch (error) {
        failure = error;
      }
      const said = storable(text);
      begun ||= said !== "" || calls.size > 0;
      return said;
    },
    get failure() {
      return failure;
    },
    end() {
      // A stream without a finish reason was cut off, even if the socket closed cleanly.
      if (finishReason === undefined || finishReason === "error") throw endlessStream(by.provider, begun);
      return { by, toolCalls: [...calls.values()].map(({ name, input }) => toolCall(name, input)), usage };
    },
  };
}

function wholeReply(by: ModelName, json: unknown): ModelReply {
  const answer = completion(json);
  const message = answer.choices[0]?.message;
  if (!message) throw new Error("an answer without a message");
  const bounds = toolCallBounds();
  const toolCalls = (message.tool_calls ?? []).map(({ function: called }) => {
    bounds.begin();
    return toolCall(bounds.text(called?.name), bounds.text(called?.arguments));
  });
  return { by, text: storable(textOf(message)), toolCalls, usage: usageOf(answer) ?? NO_USAGE };
}

/** @throws the error that the provider reports in place of an answer, or what cannot be read */
function completion(json: unknown): Completion & Required<Pick<Completion, "choices">> {
  const { error, choices, ...rest } = json as Completion;
  if (error) throw error;
  if (!Array.isArray(choices)) throw new Error("an answer without choices");
  return { ...rest, choices };
}

function textOf({ content, refusal }: Message): string {
  const text = Array.isArray(content)
    ? content.map((part) => (part.type === "text" && typeof part.text === "string" ? part.text : "")).join("")
    : (content ?? "");
  return typeof refusal === "string" ? text + refusal : text;
}

const NO_USAGE: TokenUsage = { inputTokens: undefined, outputTokens: undefined };

function usageOf({ usage, x_groq }: Completion): TokenUsage | null {
  const given = usage ?? x_groq?.usage;
  if (!given) return null;
  const { prompt_tokens, completion_tokens, prompt_tokens_details: cached } = given;
  return {
    inputTokens: tokenCount(prompt_tokens),
    outputTokens: tokenCount(completion_tokens),
    cachedInputTokens: tokenCount(cached?.cached_tokens),
    cacheWriteTokens: tokenCount(cached?.cache_write_tokens),
  };
}
