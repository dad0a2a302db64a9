/** A provider's wire format as its documentation describes it, which is what a scripted model needs to imitate it. */
export interface Dialect {
  /** The response to one request, whose parts count what was said. @param facts defaults to the script's */
  answer(facts?: AnswerFacts): AnswerShapes;
  /** What a request asks for, in terms that all providers share. */
  read(request: RecordedRequest): Asked;
  /** An error reported in the middle of a stream. */
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
  /** The JSON Schema that the answer must match. */
  schema: unknown;
}

/** Why an answer ends; null if it does not say. */
export type End = "stop" | "tools" | null;

/** The data of server-sent events, and the body of a whole answer. */
export interface AnswerShapes {
  piece(text: string): unknown[];
  toolCall(name: string, input: string): unknown[];
  end(reason: End): unknown[];
  whole(text: string, calls: readonly { name: string; input: string }[], reason: End): unknown;
}

/** What an answer contains besides its content. */
export interface AnswerFacts {
  model: string;
  newId(prefix: string): string;
  createdAtSeconds: number;
  usage: { inputTokens: number; outputTokens: number };
  /** Whether a stream reports the usage, in dialects where the request asks for it. */
  includeUsage?: boolean;
}

/** The usage of every scripted answer. */
export const INPUT_TOKENS = 11;
export const OUTPUT_TOKENS = 7;

export function scriptedFacts(): AnswerFacts {
  let ids = 0;
  return {
    model: "scripted",
    newId: (prefix) => `${prefix}${++ids}`,
    createdAtSeconds: 1_700_000_000,
    usage: { inputTokens: INPUT_TOKENS, outputTokens: OUTPUT_TOKENS },
    includeUsage: true,
  };
}

/** The texts of a message's parts, whichever form the message has. */
export function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

export function bearer({ headers }: RecordedRequest): string {
  return String(headers.authorization).replace("Bearer ", "");
}
