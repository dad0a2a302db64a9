/** How a provider's API speaks, in the shapes its documentation records: what a scripted model needs to pass for it. */
export interface Dialect {
  /** One request's answer; its parts keep count of what was said. */
  answer(): AnswerShapes;
  /** What a request asks for, in terms that all providers share. */
  read(request: RecordedRequest): Asked;
  /** An error that is reported in the middle of a stream. */
  error: unknown;
}

export interface RecordedRequest {
  path: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on it field by field
  body: any;
}

export interface Asked {
  key: string;
  model: string;
  isStream: boolean;
  temperature: number | undefined;
  system: string;
  /** `role: text`, `call: name {input}` and `result: text`, in order. */
  messages: string[];
  tools: string[];
  /** The JSON Schema the answer is held to. */
  schema: unknown;
}

/** Why an answer ends; null: it does not say. */
export type End = "stop" | "tools" | null;

/** The data of server-sent events, and the body of a whole answer. */
export interface AnswerShapes {
  piece(text: string): unknown[];
  toolCall(name: string, input: string): unknown[];
  end(reason: End): unknown[];
  whole(text: string, calls: readonly { name: string; input: string }[], reason: End): unknown;
}

/** What every answer cost. */
export const INPUT_TOKENS = 11;
export const OUTPUT_TOKENS = 7;

/** The texts of a message's parts, however it is given. */
export function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

export function bearer({ headers }: RecordedRequest): string {
  return String(headers.authorization).replace("Bearer ", "");
}
