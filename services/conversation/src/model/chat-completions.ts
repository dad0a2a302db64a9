import type { LanguageModelV4 } from "@ai-sdk/provider";
import { createParser } from "eventsource-parser";
import { storable } from "../storable.ts";
import { bodyTexts } from "./body-texts.ts";
import { brokenAnswer, endlessStream, failureOf, isBrokenConnection, refusedCall, unreachable } from "./failure.ts";
import { jsonReader } from "./long-json.ts";
import type { Asked, Model, ModelEnd, ModelName, ModelReply, ModelRequest, TokenUsage } from "./port.ts";
import { callOptions, type ModelSettings } from "./prompt.ts";
import { metered } from "./received.ts";
import { toolCall } from "./tool-call.ts";

/**
 * A model that speaks OpenAI's chat completions (https://platform.openai.com/docs/api-reference/chat). The AI SDK writes
 * the requests, in which the providers differ. The answers are read here: the SDK checks every word against a schema and
 * passes it through four streams, which costs more than the rest of a streamed turn.
 * @param writer a model of the AI SDK whose `fetch` is `onlyWrite`
 */
export function chatCompletionsModel(
  by: ModelName,
  writer: LanguageModelV4,
  settings: ModelSettings,
  send: typeof fetch,
): Model {
  let ahead: { asked: Asked; messages: ModelRequest["messages"]; written: Promise<WrittenRequest> } | null = null;

  function write(request: ModelRequest, asked: Asked): Promise<WrittenRequest> {
    return written(writer[asked === "streamed" ? "doStream" : "doGenerate"](callOptions(request, settings)));
  }

  /** Takes the request that was written ahead, if it is this one. */
  function takeWritten({ messages }: ModelRequest, asked: Asked): Promise<WrittenRequest> | null {
    const taken = ahead;
    ahead = null;
    return taken?.messages === messages && taken.asked === asked ? taken.written : null;
  }

  async function ask(asked: Asked, request: ModelRequest, signal: AbortSignal): Promise<Response> {
    const { url, init } = await (takeWritten(request, asked) ?? write(request, asked));
    const response = await send(url, { ...init, signal }).catch((error: unknown) => {
      throw isBrokenConnection(error) ? unreachable(by.provider, error) : error;
    });
    if (response.ok) return response;
    await response.body?.cancel();
    throw refusedCall(by.provider, response);
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
      const passedOn = metered(request, signal);
      let body: BodyReader | undefined;
      try {
        const answer = streamReader(by);
        const texts = bodyTexts(request.meter?.ownerId ?? null);
        const read = (received: string, leftBytes: number) => {
          const text = answer.read(received);
          let wait: Promise<void> | null = null;
          if (text !== "") {
            passedOn(leftBytes);
            wait = hear(text, by);
          }
          if (answer.failure) throw answer.failure;
          return wait;
        };
        body = readerOf(await ask("streamed", request, signal));
        for (let next = await body?.readMany(); next && !next.done; next = await body?.readMany()) {
          await texts.parse(next.value, read);
        }
        return answer.end();
      } catch (error) {
        throw failureOf(isBrokenConnection(error) ? brokenAnswer(by.provider, error) : error, by.provider, signal);
      } finally {
        // Rejects with the error that the body failed with.
        body?.cancel().catch(() => {});
      }
    },
    async complete(request, signal) {
      metered(request, signal);
      let body: BodyReader | undefined;
      try {
        const answer = jsonReader();
        const texts = bodyTexts(request.meter?.ownerId ?? null);
        const push = (received: string) => {
          answer.push(received);
          return request.parsed?.(received.length) ?? null;
        };
        body = readerOf(await ask("whole", request, signal));
        for (let next = await body?.readMany(); next && !next.done; next = await body?.readMany())
          await texts.parse(next.value, push);
        return wholeReply(by, answer.end());
      } catch (error) {
        throw failureOf(isBrokenConnection(error) ? brokenAnswer(by.provider, error) : error, by.provider, signal);
      } finally {
        body?.cancel().catch(() => {});
      }
    },
  };
}

/** A request that the AI SDK wrote and did not send. */
class WrittenRequest extends Error {
  readonly url: string;
  readonly init: RequestInit;

  constructor(url: string, init: RequestInit) {
    super("a request that is only written");
    this.url = url;
    this.init = init;
  }
}

/** The `fetch` of a model of the AI SDK that only writes requests. */
export const onlyWrite: typeof fetch = Object.assign(
  (input: string | URL | Request, init: RequestInit = {}) => Promise.reject(new WrittenRequest(String(input), init)),
  { preconnect: () => {} },
);

async function written(call: PromiseLike<unknown>): Promise<WrittenRequest> {
  try {
    await call;
  } catch (error) {
    if (error instanceof WrittenRequest) return error;
    throw error;
  }
  throw new Error("the AI SDK answered without a request");
}

type BodyReader = ReadableStreamDefaultReader<Uint8Array>;

function readerOf({ body }: Response): BodyReader | undefined {
  return body?.getReader() as BodyReader | undefined;
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
  function?: { name?: string | null; arguments?: string | null } | null;
}

interface Usage {
  prompt_tokens?: number | null;
  completion_tokens?: number | null;
  prompt_tokens_details?: { cached_tokens?: number | null; cache_write_tokens?: number | null } | null;
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
    const call = calls.get(lastCall) ?? { id: id ?? "", name: "", input: "" };
    call.name ||= called?.name ?? "";
    call.input += called?.arguments ?? "";
    calls.set(lastCall, call);
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
  const toolCalls = (message.tool_calls ?? []).map(({ function: called }) =>
    toolCall(called?.name ?? "", called?.arguments ?? ""),
  );
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
    inputTokens: prompt_tokens ?? undefined,
    outputTokens: completion_tokens ?? undefined,
    cachedInputTokens: cached?.cached_tokens ?? undefined,
    cacheWriteTokens: cached?.cache_write_tokens ?? undefined,
  };
}
