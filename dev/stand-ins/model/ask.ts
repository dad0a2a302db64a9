import { isObject, type JsonObject } from "@parley/shared/json/json-object";
import { invalid, missing, readBody } from "../openai-api.ts";
import { afterMarked, markedIn, withoutMarked } from "./marked.ts";

/** What a request of chat completions asks for. */
export interface Ask {
  model: string;
  messages: Message[];
  format: AnswerFormat;
  tools: Tool[];
  /** The names of the tools whose results the conversation has already. */
  toolsAnswered: string[];
  stream: boolean;
  /** Whether a stream ends with its usage. */
  includeUsage: boolean;
}

/** A message of the conversation, reduced to its text. */
export interface Message {
  role: "system" | "user" | "assistant" | "tool";
  text: string;
  /** What documents say, which Parley put into the message. */
  documents?: readonly string[];
}

type AnswerFormat = { kind: "text" } | { kind: "object" } | { kind: "schema"; schema: unknown };

export interface Tool {
  name: string;
  description: string;
  parameters: unknown;
}

const ROLES: Record<string, Message["role"]> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

/** Reads the body of `POST /v1/chat/completions`. @throws ApiError 400 naming the invalid parameter */
export async function readAsk(request: Request): Promise<Ask> {
  const body = await readBody(request);
  const { model, messages, response_format, stream, stream_options } = body;
  if (messages === undefined) throw missing("messages", "Send the conversation as an array of messages.");
  if (!Array.isArray(messages) || messages.length === 0) {
    throw invalid("messages", "Send an array with at least one message.");
  }
  return {
    model: typeof model === "string" ? model : "stand-in",
    messages: messages.map(readMessage),
    format: readFormat(response_format),
    tools: readTools(body),
    toolsAnswered: answeredTools(messages.filter(isObject)),
    stream: stream === true,
    includeUsage: isObject(stream_options) && stream_options.include_usage === true,
  };
}

/** The text of the user's last message, or null. */
export function lastUserText(messages: readonly Message[]): string | null {
  return messages.findLast((message) => message.role === "user")?.text ?? null;
}

function readMessage(message: unknown, index: number): Message {
  const param = `messages[${index}]`;
  if (!isObject(message)) throw invalid(param, "Each message must be an object with a role and content.");
  const role = typeof message.role === "string" && Object.hasOwn(ROLES, message.role) ? ROLES[message.role] : undefined;
  if (!role) throw invalid(`${param}.role`, `Use one of ${Object.keys(ROLES).join(", ")}.`);
  const text = readText(message.content, `${param}.content`);
  const documents = role === "system" || role === "user" ? markedIn(text) : [];
  if (documents.length === 0) return { role, text };
  return { role, text: role === "user" ? afterMarked(text) : withoutMarked(text), documents };
}

/** The text of a message's content: a string, null, or an array of parts, where only text counts. */
function readText(content: unknown, param: string): string {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalid(param, "Send a string or an array of content parts.");
  return content.map((part) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("");
}

function readFormat(format: unknown): AnswerFormat {
  const param = "response_format";
  if (format === undefined || format === null) return { kind: "text" };
  if (!isObject(format)) throw invalid(param, "Send an object with a type.");
  if (format.type === "text") return { kind: "text" };
  if (format.type === "json_object") return { kind: "object" };
  if (format.type !== "json_schema") throw invalid(`${param}.type`, "Use text, json_object or json_schema.");
  const schema = isObject(format.json_schema) ? format.json_schema.schema : undefined;
  if (schema === undefined) throw missing(`${param}.json_schema.schema`, "Send the JSON Schema of the answer.");
  return { kind: "schema", schema };
}

/** Reads function tools; skips other kinds, and all of them with `tool_choice: "none"`. */
function readTools({ tools, tool_choice }: JsonObject): Tool[] {
  if (!Array.isArray(tools) || tool_choice === "none") return [];
  return tools.flatMap((tool): Tool[] => {
    const about = isObject(tool) ? tool.function : undefined;
    return isObject(about) && typeof about.name === "string"
      ? [{ name: about.name, description: String(about.description ?? ""), parameters: about.parameters }]
      : [];
  });
}

function answeredTools(messages: readonly JsonObject[]): string[] {
  const answeredIds = new Set(messages.filter(({ role }) => role === "tool").map((message) => message.tool_call_id));
  const calls = messages.flatMap(({ tool_calls }) => (Array.isArray(tool_calls) ? tool_calls : []));
  return calls.flatMap((call): string[] => {
    if (!isObject(call) || !answeredIds.has(call.id) || !isObject(call.function)) return [];
    return typeof call.function.name === "string" ? [call.function.name] : [];
  });
}
