import { isObject } from "@parley/shared/json/json-object";
import { ApiError } from "../openai-api.ts";
import { type Ask, lastUserText, type Message } from "./ask.ts";
import { isGoodbye, reply } from "./replies.ts";
import { sampleJson } from "./sample.ts";
import { toolCallFor } from "./tool-call.ts";

export type Answer = { kind: "text"; text: string } | { kind: "call"; name: string; arguments: string };

const PHRASE_CHARACTERS_MAX = 80;

/** The answer to a request, deterministic. @throws ApiError 400 for a schema that no value satisfies */
export function answer(ask: Ask): Answer {
  const endCall = ask.tools.find((tool) => tool.name === "end_call");
  if (endCall && !ask.toolsAnswered.includes(endCall.name) && saysGoodbye(ask.messages)) {
    const sample = sampleJson(endCall.parameters, reply(ask.messages));
    return { kind: "call", name: endCall.name, arguments: JSON.stringify(isObject(sample) ? sample : {}) };
  }
  const call = toolCallFor(ask);
  if (typeof call === "string") return { kind: "text", text: call };
  if (call) return { kind: "call", name: call.name, arguments: JSON.stringify(call.input) };
  if (ask.format.kind === "object") return { kind: "text", text: JSON.stringify({ reply: reply(ask.messages) }) };
  if (ask.format.kind === "schema") return { kind: "text", text: fillSchema(ask.format.schema, ask.messages) };
  return { kind: "text", text: reply(ask.messages) };
}

type TokenUsage = { inputTokens: number; outputTokens: number };

/** An estimate: one token for every four characters of text, rounded up. */
export function estimateUsage(ask: Ask, answer: Answer): TokenUsage {
  const promptCharacters = ask.messages.reduce((sum, message) => sum + charactersOf(message), 0);
  const completion = answer.kind === "text" ? answer.text : answer.name + answer.arguments;
  return { inputTokens: Math.ceil(promptCharacters / 4), outputTokens: Math.ceil(completion.length / 4) };
}

function charactersOf({ text, documents = [] }: Message): number {
  return text.length + documents.join("").length;
}

/** Splits a text into pieces that start at words and join to exactly the text. */
export function words(text: string): string[] {
  return text.match(/\s*\S+(?:\s+$)?/g) ?? [text];
}

function saysGoodbye(messages: readonly Message[]): boolean {
  const said = lastUserText(messages);
  return said !== null && isGoodbye(said);
}

function fillSchema(schema: unknown, messages: readonly Message[]): string {
  const sample = sampleJson(schema, phrase(messages));
  if (sample !== undefined) return JSON.stringify(sample);
  const detail =
    "The stand-in model found no value for this JSON Schema. Check its bounds, that every $ref is local and that it does not contain itself without end.";
  throw new ApiError(400, detail, "invalid_json_schema", "schema");
}

function phrase(messages: readonly Message[]): string {
  const said = (lastUserText(messages) ?? "").replace(/\s+/g, " ").trim();
  if (said.length <= PHRASE_CHARACTERS_MAX) return said || "Nothing was said.";
  const cut = said.slice(0, PHRASE_CHARACTERS_MAX).toWellFormed();
  return cut.slice(0, Math.max(cut.lastIndexOf(" "), PHRASE_CHARACTERS_MAX / 2)).trimEnd();
}
