import {
  InvalidResponseDataError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4FunctionTool,
  type LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { ServiceError } from "@parley/shared/errors";
import { storable } from "../storable.ts";
import { endlessStream, failureOf } from "./failure.ts";
import type { Model, ModelEvent, ModelReply, ModelRequest, TokenUsage, ToolCall } from "./port.ts";

/**
 * A model of the AI SDK's provider packages at its lowest level: `streamText` above it costs three times the CPU for what
 * a turn does itself.
 */
export function aiSdkModel(provider: string, name: string, model: LanguageModelV4): Model {
  return {
    provider,
    name,
    async *stream(request, signal) {
      try {
        const { stream } = await model.doStream(callOptions(request, signal));
        yield* events(stream, provider);
      } catch (error) {
        throw failureOf(error, provider, signal);
      }
    },
    async complete(request, signal) {
      try {
        const { content, usage } = await model.doGenerate(callOptions(request, signal));
        const reply: ModelReply = { text: "", toolCalls: [], usage: tokens(usage) };
        for (const part of content) {
          if (part.type === "text") reply.text += storable(part.text);
          else if (part.type === "tool-call") reply.toolCalls.push(toolCall(part, provider));
        }
        return reply;
      } catch (error) {
        throw failureOf(error, provider, signal);
      }
    },
  };
}

async function* events(stream: AsyncIterable<Part>, provider: string): AsyncGenerator<ModelEvent> {
  let begun = false;
  let finished = false;
  for await (const part of stream) {
    if (part.type === "text-delta") {
      const text = storable(part.delta);
      begun ||= text !== "";
      if (text !== "") yield { type: "text", text };
    } else if (part.type === "tool-call") {
      begun = true;
      yield { type: "tool_call", call: toolCall(part, provider) };
    } else if (part.type === "error") {
      throw isMissingEnd(part.error) ? endlessStream(provider, begun) : part.error;
    } else if (part.type === "finish") {
      // A stream that ends with no finish reason of the provider's was cut off, however politely the socket closed.
      if (part.finishReason.unified === "error" || part.finishReason.raw === undefined) break;
      finished = true;
      yield { type: "finish", usage: tokens(part.usage) };
    }
  }
  if (!finished) throw endlessStream(provider, begun);
}

/** How some of the provider packages say that a stream ended without a finish reason. */
function isMissingEnd(error: unknown): boolean {
  return InvalidResponseDataError.isInstance(error) && error.data === undefined;
}

type Part = Awaited<ReturnType<LanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

function callOptions(request: ModelRequest, signal: AbortSignal): LanguageModelV4CallOptions {
  const messages: LanguageModelV4CallOptions["prompt"] = request.messages.map(({ role, content }) => ({
    role,
    content: [{ type: "text", text: content }],
  }));
  return {
    prompt: request.system === "" ? messages : [{ role: "system", content: request.system }, ...messages],
    abortSignal: signal,
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.answer && { responseFormat: { type: "json", ...request.answer } }),
    ...(request.tools.length > 0 && { tools: request.tools.map(functionTool) }),
  };
}

function functionTool({ name, description, inputSchema }: ModelRequest["tools"][number]): LanguageModelV4FunctionTool {
  return { type: "function", name, description, inputSchema };
}

function toolCall({ toolName, input }: { toolName: string; input: string }, provider: string): ToolCall {
  let parsed: unknown;
  try {
    parsed = input === "" ? {} : JSON.parse(input);
  } catch (cause) {
    throw new ServiceError("upstream_failed", `The ${provider} model called a tool with malformed JSON`, { cause });
  }
  const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  return { name: toolName, input: isObject ? (parsed as Record<string, unknown>) : {} };
}

function tokens(usage: LanguageModelV4Usage): TokenUsage {
  return { inputTokens: usage.inputTokens.total, outputTokens: usage.outputTokens.total };
}
