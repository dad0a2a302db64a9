import { ApiError, invalid, missing } from "./api-error.ts";
import type { AnswerFormat, Ask, Message, Role } from "./ask.ts";
import { isObject, type JsonObject, readFormat, readText, readTools } from "./read-json.ts";

const ROLES: Record<string, Role> = { system: "system", developer: "system", user: "user", assistant: "assistant" };

const ECHOED: JsonObject = {
  instructions: null,
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  truncation: "disabled",
};

/** Parses the body of `POST /v1/responses`. @throws ApiError 400 naming the invalid parameter */
export function readResponsesRequest(body: JsonObject): Ask {
  if (typeof body.previous_response_id === "string") {
    const detail = "The stand-in model keeps no responses; send the whole conversation as 'input'.";
    throw new ApiError(400, detail, "previous_response_not_found", "previous_response_id");
  }
  const items = readInput(body.input);
  const instructions = readText(body.instructions, "instructions");
  return {
    model: typeof body.model === "string" ? body.model : "stand-in",
    messages: [...(instructions ? [{ role: "system" as const, text: instructions }] : []), ...items.flatMap(readItem)],
    format: readTextFormat(body.text),
    tools: readTools(body),
    toolsAnswered: answeredTools(items),
    stream: body.stream === true,
    includeUsage: true,
    echo: Object.fromEntries(Object.entries(ECHOED).map(([field, absent]) => [field, body[field] ?? absent])),
  };
}

function readInput(input: unknown): JsonObject[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  if (input === undefined || input === null) throw missing("input", "Send a string or an array of input items.");
  if (!Array.isArray(input) || input.length === 0)
    throw invalid("input", "Send a string or a non-empty array of items.");
  return input.map((item, index) => {
    if (isObject(item)) return item;
    throw invalid(`input[${index}]`, "Each item must be an object.");
  });
}

function readItem(item: JsonObject, index: number): Message[] {
  if (item.type === "function_call_output") {
    return [{ role: "tool", text: readText(item.output, `input[${index}].output`) }];
  }
  if (item.type !== undefined && item.type !== "message") return [];
  const role = typeof item.role === "string" && Object.hasOwn(ROLES, item.role) ? ROLES[item.role] : undefined;
  if (!role) throw invalid(`input[${index}].role`, `Use one of ${Object.keys(ROLES).join(", ")}.`);
  return [{ role, text: readText(item.content, `input[${index}].content`) }];
}

function readTextFormat(text: unknown): AnswerFormat {
  const format = isObject(text) ? text.format : undefined;
  return readFormat(format, "text.format", isObject(format) ? format.schema : undefined, "text.format.schema");
}

function answeredTools(items: JsonObject[]): string[] {
  const answeredIds = new Set(items.filter(({ type }) => type === "function_call_output").map((item) => item.call_id));
  const calls = items.filter((item) => item.type === "function_call" && answeredIds.has(item.call_id));
  return calls.flatMap(({ name }) => (typeof name === "string" ? [name] : []));
}
