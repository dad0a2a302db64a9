import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Usage,
} from "@ai-sdk/provider";
import { ServiceError } from "@parley/shared/errors";
import { failureOf } from "./failure.ts";
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
          if (part.type === "text") reply.text += part.text;
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
  let finished = false;
  for await (const part of stream) {
    if (part.type === "text-delta") {
      if (part.delta !== "") yield { type: "text", text: part.delta };
    } else if (part.type === "tool-call") {
      yield { type: "tool_call", call: toolCall(part, provider) };
    } else if (part.type === "error") {
      throw part.error;
    } else if (part.type === "finish") {
      // A stream that ends with no finish reason of the provider's was cut off, however politely the socket closed.
      if (part.finishReason.unified === "error" || part.finishReason.raw === undefined) throw cutOff(provider);
      finished = true;
      yield { type: "finish", usage: tokens(part.usage) };
    }
  }
  if (!finished) throw cutOff(provider);
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

function cutOff(provider: string): ServiceError {
  return new ServiceError("upstream_failed", `The ${provider} model's answer was cut off`);
}
