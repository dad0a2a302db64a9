export type Role = "system" | "user" | "assistant" | "tool";

/** A message of the conversation, reduced to its text. */
export type Message = { role: Role; text: string };

export type AnswerFormat = { kind: "text" } | { kind: "object" } | { kind: "schema"; schema: unknown };

export type Tool = { name: string; parameters: unknown };

/**
 * What a request asks for, in Chat Completions and Responses alike. `toolsAnswered` names the tools whose results it
 * already contains.
 */
export type Ask = {
  model: string;
  messages: Message[];
  format: AnswerFormat;
  tools: Tool[];
  toolsAnswered: string[];
  stream: boolean;
  /** Whether a stream of chat completions ends with its usage. */
  includeUsage: boolean;
  /** Fields of the request that a response object repeats. */
  echo: object;
};

/** The text of the user's last message, or null. */
export function lastUserText(messages: readonly Message[]): string | null {
  return messages.findLast((message) => message.role === "user")?.text ?? null;
}
