import { collectValues, type VariableValue } from "@parley/shared/domain/variables/values";
import { ServiceError } from "@parley/shared/errors";
import { isObject, type JsonObject, parseObject } from "@parley/shared/json/json-object";
import { refuseUnstorable } from "@parley/shared/json/storable-json";
import { isLonger } from "@parley/shared/text/length";
import { parseLanguage } from "../tools/builtin/language.ts";
import { HALF_CHARACTER } from "../tools/http/answer.ts";

/** What a start webhook says of a conversation. Everything may be left out. */
export interface StartAnswer {
  variables: Record<string, VariableValue>;
  metadata: Record<string, unknown>;
  agentId: string | null;
  firstMessage: string | null;
  language: string | null;
  voiceId: string | null;
  /** Rejects the conversation with these words. */
  say: string | null;
}

const FIRST_MESSAGE_MAX = 10_000;
const SAY_MAX = 1_000;
const VOICE_ID_MAX = 200;

/** Why an answer cannot be used, for people to read. */
export class WrongAnswer extends Error {}

/**
 * Reads a start webhook's answer. Fields that are not known are ignored, and null means the same as no value. An empty answer changes
 * nothing.
 * @throws WrongAnswer for the first known field with a wrong value, which makes the whole answer one
 */
export function readStartAnswer(text: string): StartAnswer {
  const given = text.trim() === "" ? {} : parseObject(text);
  if (!given) throw new WrongAnswer("The answer must be a JSON object");
  const reject = objectOf("reject", given.reject);
  return storable({
    variables: variablesOf(objectOf("dynamic_variables", given.dynamic_variables) ?? {}),
    metadata: objectOf("metadata", given.metadata) ?? {},
    agentId: textOf("agent_id", given.agent_id, { max: VOICE_ID_MAX }),
    firstMessage: textOf("first_message", given.first_message, { max: FIRST_MESSAGE_MAX, mayBeEmpty: true }),
    language: languageOf(given.language),
    voiceId: textOf("voice_id", given.voice_id, { max: VOICE_ID_MAX }),
    say: reject && sayOf(reject),
  });
}

function objectOf(name: string, value: unknown): JsonObject | null {
  if (value == null) return null;
  if (!isObject(value)) throw wrong(name, "an object");
  return value;
}

function variablesOf(given: JsonObject): Record<string, VariableValue> {
  try {
    return collectValues({ dynamic_variables: given });
  } catch (error) {
    throw error instanceof ServiceError ? new WrongAnswer(error.detail) : error;
  }
}

function textOf(
  name: string,
  value: unknown,
  { max, mayBeEmpty }: { max: number; mayBeEmpty?: boolean },
): string | null {
  if (value == null) return null;
  const isFine = typeof value === "string" && (mayBeEmpty || value.trim() !== "") && !isLonger(value, max);
  if (!isFine) throw wrong(name, `a text of ${mayBeEmpty ? "at most" : "1 to"} ${max} characters`);
  return value;
}

function languageOf(value: unknown): string | null {
  if (value == null) return null;
  const language = parseLanguage(value);
  if (!language) throw wrong("language", "a BCP 47 tag, such as en-US");
  return language;
}

function sayOf({ say }: JsonObject): string {
  const text = textOf("reject.say", say, { max: SAY_MAX });
  if (text === null) throw wrong("reject.say", `a text of 1 to ${SAY_MAX} characters`);
  return text;
}

/** @throws WrongAnswer for what Postgres cannot store */
function storable(answer: StartAnswer): StartAnswer {
  try {
    refuseUnstorable(answer, "The answer");
  } catch (error) {
    throw error instanceof ServiceError ? new WrongAnswer(error.detail) : error;
  }
  if (HALF_CHARACTER.test(JSON.stringify(answer))) throw new WrongAnswer("The answer has half of a character");
  return answer;
}

function wrong(name: string, what: string): WrongAnswer {
  return new WrongAnswer(`${name} must be ${what}`);
}
