/** What a model's server sends, and what it means. */
export interface Form {
  /** Which servers send it, and what is odd about it. */
  name: string;
  /** The body as sent, with status 200. */
  body: string;
  means: Meaning;
}

export interface Meaning {
  /** The words of the reply. */
  text?: string;
  /** Its tool calls: `name arguments`. */
  calls?: readonly string[];
  /** Input and output tokens, where the server reports them. */
  usage?: readonly [inputTokens: number | undefined, outputTokens: number | undefined];
  /** Why the reply is partial. */
  partial?: string;
  /** How the answer fails, after the words if there are any. */
  fails?: string;
}

export const SAID = "We open at nine.";
export const CUT_OFF = "cut off its answer";
export const UNREADABLE = "gave an answer that cannot be read";
export const EMPTY = "gave an empty answer";

/** Server-sent events, each with this data. */
export function events(...data: readonly unknown[]): string {
  return data.map((each) => `data: ${typeof each === "string" ? each : JSON.stringify(each)}\n\n`).join("");
}

/** The same with the name that Anthropic and OpenAI give each event. */
export function named(...data: readonly { type: string }[]): string {
  return data.map((each) => `event: ${each.type}\ndata: ${JSON.stringify(each)}\n\n`).join("");
}
