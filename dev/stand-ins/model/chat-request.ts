import { invalid, missing } from "./api-error.ts";
import type { AnswerFormat, Ask, Message, Role } from "./ask.ts";
import { isObject, type JsonObject, readFormat, readText, readTools } from "./read-json.ts";

const ROLES: Record<string, Role> = {
  system: "system",
  developer: "system",
  user: "user",
  assistant: "assistant",
  tool: "tool",
  function: "tool",
};

/** Parses the body of `POST /v1/chat/completions`. @throws ApiError 400 naming the invalid parameter */
export function readChatRequest(body: JsonObject): Ask {
  if (body.messages === undefined) throw missing("messages", "Send the conversation as an array of messages.");
  if (!Array.isArray(body.messages) || body.messages.length === 0) {
    throw invalid("messages", "Send an array with at least one message.");
  }
  return {
    model: typeof body.model === "string" ? body.model : "stand-in",
    messages: body.messages.map(readMessage),
    format: readChatFormat(body.response_format),
    tools: readTools(body),
    toolsAnswered: answeredTools(body.messages),
    stream: body.stream === true,
    includeUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
    echo: {},
  };
}

function readMessage(message: unknown, index: number): Message {
  const param = `messages[${index}]`;
  if (!isObject(message)) throw invalid(param, "Each message must be an object with a role and content.");
  const role = typeof message.role === "string" && Object.hasOwn(ROLES, message.role) ? ROLES[message.role] : undefined;
  if (!role) throw invalid(`${param}.role`, `Use one of ${Object.keys(ROLES).join(", ")}.`);
  return { role, text: readText(message.content, `${param}.content`) };
}

function readChatFormat(format: unknown): AnswerFormat {
  const nested = isObject(format) && isObject(format.json_schema) ? format.json_schema : {};
  return readFormat(format, "response_format", nested.schema, "response_format.json_schema.schema");
}

function answeredTools(messages: unknown[]): string[] {
  const objects = messages.filter(isObject);
  const answeredIds = new Set(objects.filter(({ role }) => role === "tool").map((message) => message.tool_call_id));
  const calls = objects.flatMap((message) => (Array.isArray(message.tool_calls) ? message.tool_calls : []));
  return calls.flatMap((call): string[] => {
    if (!isObject(call) || !answeredIds.has(call.id) || !isObject(call.function)) return [];
    return typeof call.function.name === "string" ? [call.function.name] : [];
  });
}
