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
};

/** The text of the user's last message, or null. */
export function lastUserText(messages: readonly Message[]): string | null {
  return messages.findLast((message) => message.role === "user")?.text ?? null;
}
