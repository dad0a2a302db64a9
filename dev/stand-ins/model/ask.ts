export type Role = "system" | "user" | "assistant" | "tool";

/** One message of the conversation as the stand-in model reads it: its text only, whatever its parts were. */
export type Message = { role: Role; text: string };

export type AnswerFormat = { kind: "text" } | { kind: "object" } | { kind: "schema"; schema: unknown };

export type Tool = { name: string; parameters: unknown };

/** What a request asks for, the same for Chat Completions and Responses. `toolsAnswered` names the tools whose results are in it already. */
export type Ask = {
  model: string;
  messages: Message[];
  format: AnswerFormat;
  tools: Tool[];
  toolsAnswered: string[];
  stream: boolean;
};

/** The text of the last message a person wrote, or null. */
export function lastUserText(messages: readonly Message[]): string | null {
  return messages.findLast((message) => message.role === "user")?.text ?? null;
}
