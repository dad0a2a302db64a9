import {
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4ToolCall,
  type LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { type Bounds, readAhead } from "../calls/read-ahead.ts";
import { storable } from "../storable.ts";
import { tokenCount } from "./cost.ts";
import { endlessStream, failureOf } from "./failure.ts";
import type { Model, ModelEnd, ModelName, ModelReply, TokenUsage, ToolCall } from "./port.ts";
import { callOptions, type ModelSettings } from "./prompt.ts";
import { metered } from "./received.ts";
import { type ToolCallBounds, toolCall, toolCallBounds } from "./tool-call.ts";

/** What is asked of a model of the AI SDK. */
export type AskedModel = Pick<LanguageModelV4, "doStream" | "doGenerate">;

/**
 * Wraps a model of the AI SDK at its lowest level: `streamText` above it costs three times the CPU for work that a turn
 * does itself.
 */
export function aiSdkModel(by: ModelName, model: AskedModel, settings: ModelSettings): Model {
  return {
    ...by,
    async stream(request, signal, hear) {
      const { read, passedOn } = metered(request.meter, signal, request.ahead);
      try {
        const { stream } = await model.doStream(callOptions(request, settings, signal));
        const passOn = (text: string) => {
          passedOn();
          return hear(text, by);
        };
        return await tellText(stream, by, read, passOn);
      } catch (error) {
        throw failureOf(error, by.provider, signal);
      }
    },
    async complete(request, signal) {
      metered(request.meter, signal);
      try {
        const { content, usage } = await model.doGenerate(callOptions(request, settings, signal));
        const bounds = toolCallBounds();
        const reply: ModelReply = { by, text: "", toolCalls: [], usage: tokens(usage) };
        for (const part of content) {
          if (part.type === "text") reply.text += storable(part.text);
          else if (part.type === "tool-call") reply.toolCalls.push(boundedCall(part, bounds));
        }
        return reply;
      } catch (error) {
        throw failureOf(error, by.provider, signal);
      }
    },
  };
}

const BROKEN: readonly string[] = ["error", "interrupted"];
/** In characters: a slow reader must not make the process buffer far ahead. */
const JOINED: Bounds<Part> = {
  itemsMax: 1_000,
  sizeMax: 16_384,
  sizeOf: (part) => (part.type === "text-delta" ? part.delta.length : 0),
};

async function tellText(
  stream: AsyncIterable<Part>,
  by: ModelName,
  read: () => void,
  hear: (text: string) => Promise<void> | null,
): Promise<ModelEnd> {
  const toolCalls: ToolCall[] = [];
  const bounds = toolCallBounds();
  let begun = false;
  for await (const part of joined(stream)) {
    read();
    if (part.type === "text-delta") {
      const text = storable(part.delta);
      begun ||= text !== "";
      if (text !== "") await hear(text);
    } else if (part.type === "tool-call") {
      begun = true;
      toolCalls.push(boundedCall(part, bounds));
    } else if (part.type === "error") {
      throw isMissingEnd(part.error) ? endlessStream(by.provider, begun) : part.error;
    } else if (part.type === "finish" && !BROKEN.includes(part.finishReason.unified)) {
      return { by, toolCalls, usage: tokens(part.usage) };
    }
  }
  // A stream without a finish reason was cut off, even if the socket closed cleanly.
  throw endlessStream(by.provider, begun);
}

/** @throws Error when the answer has too many tool calls, or ones that are too long */
function boundedCall({ toolName, input }: LanguageModelV4ToolCall, bounds: ToolCallBounds): ToolCall {
  bounds.begin();
  return toolCall(bounds.text(toolName), bounds.text(input));
}

/** Joins text that arrived together: every piece costs CPU in each process that it passes. */
async function* joined(stream: AsyncIterable<Part>): AsyncGenerator<Part> {
  for await (const parts of readAhead(stream, JOINED)) {
    for (const [at, part] of parts.entries()) {
      const next = parts[at + 1];
      if (part.type === "text-delta" && next?.type === "text-delta") next.delta = part.delta + next.delta;
      else yield part;
    }
  }
}

/** Some provider packages report a missing finish reason this way. */
function isMissingEnd(error: unknown): boolean {
  return InvalidResponseDataError.isInstance(error) && error.data === undefined;
}

type Part = Awaited<ReturnType<LanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

function tokens({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenUsage {
  return {
    inputTokens: tokenCount(inputTokens.total),
    outputTokens: tokenCount(outputTokens.total),
    cachedInputTokens: tokenCount(inputTokens.cacheRead),
    cacheWriteTokens: tokenCount(inputTokens.cacheWrite),
  };
}
