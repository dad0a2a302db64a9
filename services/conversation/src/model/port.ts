/** What a turn asks of a language model. */
export interface ModelRequest {
  system: string;
  messages: readonly { role: "user" | "assistant"; content: string }[];
  temperature: number | undefined;
  tools: readonly ModelTool[];
  /** Asks for an answer that is one JSON document of this schema, from a provider that can promise it. */
  answer?: JsonAnswer;
}

export interface JsonAnswer {
  /** Of the schema, for the provider: letters, digits, - and _. */
  name: string;
  schema: Record<string, unknown>;
}

export interface ModelTool {
  name: string;
  description: string;
  /** JSON Schema of its input. */
  inputSchema: Record<string, unknown>;
}

export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

/** Tokens as the provider counted them; undefined where it did not say. */
export interface TokenUsage {
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

export type ModelEvent =
  | { type: "text"; text: string }
  | { type: "tool_call"; call: ToolCall }
  | { type: "finish"; usage: TokenUsage };

export interface ModelReply {
  text: string;
  toolCalls: ToolCall[];
  usage: TokenUsage;
}

/**
 * One model of one provider. Both ways throw ServiceError upstream_failed or upstream_timeout, or whatever the signal was
 * aborted with.
 */
export interface Model {
  provider: string;
  name: string;
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  complete(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
}
