import { ApiError, invalid, missing } from "./api-error.ts";
import type { AnswerFormat, Tool } from "./ask.ts";

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** @throws ApiError 400 when the body is not one JSON object */
export async function readBody(request: Request): Promise<JsonObject> {
  const body: unknown = await request.json().catch(() => undefined);
  if (isObject(body)) return body;
  throw new ApiError(
    400,
    "The request body must be one JSON object; this one could not be parsed as that.",
    "invalid_json",
  );
}

/** The text of a message's content: a string, null, or an array of parts, of which only text counts. */
export function readText(content: unknown, param: string): string {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw invalid(param, "Send a string or an array of content parts.");
  return content.map((part) => readPart(part, param)).join("");
}

function readPart(part: unknown, param: string): string {
  if (typeof part === "string") return part;
  if (!isObject(part)) throw invalid(param, "Each content part must be an object such as {type: 'text', text: '…'}.");
  return typeof part.text === "string" ? part.text : "";
}

/** Reads function tools in either API's shape; skips other kinds, and all of them with `tool_choice: "none"`. */
export function readTools(body: JsonObject): Tool[] {
  if (!Array.isArray(body.tools) || body.tool_choice === "none") return [];
  return body.tools.flatMap((tool): Tool[] => {
    const about = isObject(tool) && isObject(tool.function) ? tool.function : tool;
    return isObject(about) && typeof about.name === "string"
      ? [{ name: about.name, parameters: about.parameters }]
      : [];
  });
}

/** Reads the answer's format, which the two APIs name and place differently. */
export function readFormat(format: unknown, param: string, schema: unknown, schemaParam: string): AnswerFormat {
  if (format === undefined || format === null) return { kind: "text" };
  if (!isObject(format)) throw invalid(param, "Send an object with a type.");
  if (format.type === "text") return { kind: "text" };
  if (format.type === "json_object") return { kind: "object" };
  if (format.type !== "json_schema") throw invalid(`${param}.type`, "Use text, json_object or json_schema.");
  if (schema === undefined) throw missing(schemaParam, "Send the JSON Schema of the answer.");
  return { kind: "schema", schema };
}
