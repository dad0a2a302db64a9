import { isObject, type JsonObject } from "@parley/shared/json/json-object";
import type { Ask, Message, Tool } from "./ask.ts";
import { stemsOf } from "./facts.ts";
import { markedIn } from "./marked.ts";
import { sampleJson } from "./sample.ts";

/** They act on the conversation itself; the stand-in calls `end_call` only, by a rule of its own. */
const BUILT_IN = new Set(["end_call", "transfer_call", "schedule_call", "set_language", "send_dtmf"]);
const NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const NUMBER = new RegExp(String.raw`(?<![\w-])(?:\d+(?:\.\d+)?|${NUMBERS.join("|")})(?![\w-])`, "gi");

/** How the stand-in asks for what a call still needs. */
const FIRST = "First tell me: ";

export interface ToolCall {
  name: string;
  input: JsonObject;
}

/**
 * The call that the user asks for, or the question for what it still needs; null when no call is asked for, or it was made.
 */
export function toolCallFor({ messages, tools }: Pick<Ask, "messages" | "tools">): ToolCall | string | null {
  const said = saidLast(messages).slice(-1_000);
  const tool = toolFor(said, tools);
  if (!tool) return null;
  const { input, missing } = inputFor(tool, said);
  return missing.length > 0 ? `${FIRST}${missing.map(wordsOf).join(", ")}.` : { name: tool.name, input };
}

/** The user's last message, after those that it completes; empty when the last word is not the user's. */
function saidLast(messages: readonly Message[]): string {
  const last = messages.at(-1);
  // A note in the user's name is in parentheses.
  if (last?.role !== "user" || last.text.startsWith("(")) return "";
  const [question] = messages.slice(-2);
  const isCompleted = question?.role === "assistant" && question.text.startsWith(FIRST.trim());
  return isCompleted ? `${saidLast(messages.slice(0, -2))} ${last.text}` : last.text;
}

/** The one with the most of its words said, if these are all of its name or two of its description. */
function toolFor(said: string, tools: readonly Tool[]): Tool | null {
  const stems = new Set(stemsOf(said));
  let best: { score: number; tool: Tool | null } = { score: 0, tool: null };
  for (const tool of tools.filter(({ name }) => !BUILT_IN.has(name))) {
    const ofName = new Set(stemsOf(wordsOf(tool.name)));
    const ofDescription = new Set(stemsOf(tool.description));
    const isNamed = ofName.size > 0 && ofName.isSubsetOf(stems);
    if (!isNamed && ofDescription.intersection(stems).size < 2) continue;
    const score = ofName.union(ofDescription).intersection(stems).size;
    if (score > best.score) best = { score, tool };
  }
  return best.tool;
}

/** What was said for each parameter, and those that must be asked for. Other required ones get a value that fits. */
function inputFor({ parameters }: Tool, said: string): { input: JsonObject; missing: string[] } {
  const { properties, required, ...rest } = isObject(parameters) ? parameters : {};
  const schemas = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required : [];
  const numbers = (said.match(NUMBER) ?? []).map(numberOf);
  const found = Object.entries(schemas).flatMap(([name, schema]) => {
    const value = isObject(schema) ? saidFor(name, schema, said, numbers) : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  const ofRequired = Object.entries(schemas).filter(([name]) => needed.includes(name));
  const given = Object.fromEntries(found);
  const missing = ofRequired.flatMap(([name, schema]) => (isAsked(schema) && !(name in given) ? [name] : []));
  const sample = sampleJson(
    { ...rest, type: "object", properties: Object.fromEntries(ofRequired), required: needed },
    said,
  );
  return { input: { ...(isObject(sample) && sample), ...given }, missing };
}

/** A text is what was said; lists and objects are more than a sentence can give. */
function isAsked(schema: unknown): boolean {
  return isObject(schema) && (Array.isArray(schema.enum) || schema.type === "integer" || schema.type === "number");
}

/** @param numbers those said; a parameter takes the first, so that the next one has the next */
function saidFor(name: string, schema: JsonObject, said: string, numbers: number[]): unknown {
  if (Array.isArray(schema.enum)) return schema.enum.find((member) => wordPattern(String(member)).test(said));
  if (schema.type === "integer" || schema.type === "number") return numbers.shift();
  if (schema.type !== "string") return undefined;
  const words = wordsOf(name).split(" ").map(RegExp.escape).join("|");
  const behind = String.raw`(?<!\w)(?:${words})(?:\W+(?:${words}|number|is|of))*\W+([\p{L}\p{N}][\p{L}\p{N}-]*)`;
  return new RegExp(behind, "iu").exec(said)?.[1];
}

function wordPattern(words: string): RegExp {
  return new RegExp(String.raw`(?<!\w)${RegExp.escape(words)}(?!\w)`, "i");
}

/** "book_table" and "bookTable" are "book table"; of a tool of an MCP server, the server's name is left out. */
function wordsOf(name: string): string {
  const own = name.slice(name.indexOf("__") + 1);
  return own
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll(/[^A-Za-z0-9]+/g, " ")
    .trim();
}

function numberOf(said: string): number {
  const at = NUMBERS.indexOf(said.toLowerCase());
  return at === -1 ? Number(said) : at;
}

/** What a tool answered, to say it: its `message`, else its fields one by one, else its text. */
export function spokenResult(told: string): string {
  const [result = told] = markedIn(told);
  const value = parse(result);
  if (typeof value === "string") return value;
  if (!isObject(value)) return result;
  if (typeof value.message === "string") return value.message;
  const fields = Object.entries(value).map(([name, field]) => `${wordsOf(name)}: ${spokenField(field)}`);
  return `${fields.join("; ")}.`;
}

function spokenField(field: unknown): string {
  if (Array.isArray(field)) return field.map(spokenField).join(", ");
  return typeof field === "string" ? field : JSON.stringify(field);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
