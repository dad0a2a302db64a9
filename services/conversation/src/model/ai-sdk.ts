import {
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { meterBodies } from "@parley/shared/egress/meter";
import { type Bounds, readAhead } from "../calls/read-ahead.ts";
import { storable } from "../storable.ts";
import { endlessStream, failureOf } from "./failure.ts";
import type { Model, ModelEvent, ModelName, ModelReply, ModelRequest, TokenUsage, ToolCall } from "./port.ts";
import { toPrompt } from "./prompt.ts";

export interface ModelSettings {
  temperature: number | undefined;
  /** Whether the provider refuses conversations that start with an assistant message. */
  userFirst: boolean;
}

/**
 * Wraps a model of the AI SDK at its lowest level: `streamText` above it costs three times the CPU for work that a turn
 * does itself.
 */
export function aiSdkModel(by: ModelName, model: LanguageModelV4, settings: ModelSettings): Model {
  return {
    ...by,
    async *stream(request, signal) {
      const given = metered(request, signal);
      try {
        const { stream } = await model.doStream(callOptions(request, settings, signal));
        yield* events(stream, by, given);
      } catch (error) {
        throw failureOf(error, by.provider, signal);
      }
    },
    async complete(request, signal) {
      metered(request, signal);
      try {
        const { content, usage } = await model.doGenerate(callOptions(request, settings, signal));
        const reply: ModelReply = { by, text: "", toolCalls: [], usage: tokens(usage) };
        for (const part of content) {
          if (part.type === "text") reply.text += storable(part.text);
          else if (part.type === "tool-call") reply.toolCalls.push(toolCall(part));
        }
        return reply;
      } catch (error) {
        throw failureOf(error, by.provider, signal);
      }
    },
  };
}

/** Smaller amounts are not reported: most whole answers are smaller. */
const RECEIVED_TOLD = 32 * 1024;

/** Reports the bytes received and not yet passed on. @returns a function to call once all of them have been */
function metered({ meter }: ModelRequest, signal: AbortSignal): () => void {
  let held = 0;
  if (meter) {
    const received = (bytes: number) => {
      held += bytes;
      if (held > RECEIVED_TOLD) meter.received(held);
    };
    meterBodies(signal, { ownerId: meter.ownerId, received });
  }
  return () => {
    held = 0;
  };
}

const BROKEN: readonly string[] = ["error", "interrupted"];
/** In characters: a slow reader must not make the process buffer far ahead. */
const JOINED: Bounds<Part> = {
  itemsMax: 1_000,
  sizeMax: 16_384,
  sizeOf: (part) => (part.type === "text-delta" ? part.delta.length : 0),
};

async function* events(stream: AsyncIterable<Part>, by: ModelName, given: () => void): AsyncGenerator<ModelEvent> {
  let begun = false;
  let finished = false;
  for await (const part of joined(stream)) {
    given();
    if (part.type === "text-delta") {
      const text = storable(part.delta);
      begun ||= text !== "";
      if (text !== "") yield { type: "text", text, by };
    } else if (part.type === "tool-call") {
      begun = true;
      yield { type: "tool_call", call: toolCall(part), by };
    } else if (part.type === "error") {
      throw isMissingEnd(part.error) ? endlessStream(by.provider, begun) : part.error;
    } else if (part.type === "finish") {
      // A stream without a finish reason was cut off, even if the socket closed cleanly.
      if (BROKEN.includes(part.finishReason.unified)) break;
      finished = true;
      yield { type: "finish", usage: tokens(part.usage), by };
    }
  }
  if (!finished) throw endlessStream(by.provider, begun);
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

function callOptions(
  request: ModelRequest,
  { temperature, userFirst }: ModelSettings,
  signal: AbortSignal,
): LanguageModelV4CallOptions {
  return {
    prompt: toPrompt(request, userFirst),
    abortSignal: signal,
    ...(temperature !== undefined && { temperature }),
    ...(request.answer && { responseFormat: { type: "json", ...request.answer } }),
    ...(request.tools.length > 0 && { tools: request.tools.map(functionTool) }),
  };
}

function functionTool({ name, description, inputSchema }: ModelRequest["tools"][number]): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema };
}

function toolCall({ toolName, input }: { toolName: string; input: string }): ToolCall {
  return { name: toolName, input: parseObject(input === "" ? "{}" : input) };
}

function parseObject(json: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = JSON.parse(json);
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function tokens(usage: LanguageModelV4Usage): TokenUsage {
  return { inputTokens: usage.inputTokens.total, outputTokens: usage.outputTokens.total };
}
