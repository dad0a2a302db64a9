import type { ModelPrice } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Meter } from "@parley/shared/egress/meter";

/** A request to a language model. */
export interface ModelRequest {
  system: string;
  messages: readonly ModelMessage[];
  tools: readonly ModelTool[];
  /** Asks providers that support it for an answer that is one JSON document of this schema. */
  answer?: JsonAnswer;
  /** Whose request it is, and a callback for the bytes of an answer held in memory. */
  meter?: Meter;
  /** Whether an answer without words and tool calls is one, because the reply has words already. */
  mayBeEmpty?: boolean;
  /** Time limit for the start of the answer, over all attempts, in milliseconds; none by default. */
  firstWordMs?: number;
}

export type ModelMessage =
  | { role: "user"; content: string }
  | { role: "assistant"; content: string; toolCalls?: readonly AnsweredToolCall[] };

interface JsonAnswer {
  /** The schema's name for the provider: letters, digits, - and _. */
  name: string;
  schema: Record<string, unknown>;
}

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of the input. */
  inputSchema: Record<string, unknown>;
}

export interface ToolCall {
  name: string;
  /** The input as the model wrote it. */
  json: string;
  /** Null when the model's input is not a JSON object. */
  input: Record<string, unknown> | null;
}

/** A tool call of an earlier answer, with its result. */
export interface AnsweredToolCall extends Omit<ToolCall, "json"> {
  result: string;
  isError: boolean;
  /** Whether the result is text from outside, which is marked as such. */
  isOutside?: boolean;
}

/** Tokens as the provider counted them; undefined when it did not report them. */
export interface TokenUsage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  /** Of the input tokens, those that the provider read from its cache and those that it wrote there. */
  cachedInputTokens?: number | undefined;
  cacheWriteTokens?: number | undefined;
}

/** One model of one provider, as an agent's configuration names them. */
export interface ModelName {
  provider: string;
  name: string;
  /** What it costs now; undefined if unknown. */
  price?: ModelPrice | undefined;
}

/** The rest of an answer, once its text is delivered. */
export interface ModelEnd {
  by: ModelName;
  toolCalls: ToolCall[];
  usage: TokenUsage;
  /** Why the answer is not whole, in the provider's words, such as `length` or `content_filter`; null for a whole one. */
  partialReason: string | null;
}

export interface ModelReply extends ModelEnd {
  text: string;
}

/**
 * Takes the text of an answer in pieces, none of them empty, with the model that gave it.
 * @returns a promise to wait for before the next piece is read, or null
 */
export type Hear = (text: string, by: ModelName) => Promise<void> | null;

/** How a model is asked: for its words as it says them, or for the whole reply. */
export type ReplyMode = "streamed" | "whole";

/**
 * A language model. Both methods throw ServiceError upstream_failed or upstream_timeout, or the signal's reason, and
 * `stream` what `hear` throws. Either way they release the provider's socket.
 */
export interface Model extends ModelName {
  stream(request: ModelRequest, signal: AbortSignal, hear: Hear): Promise<ModelEnd>;
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
}
