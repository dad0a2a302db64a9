import type { HttpTool } from "@parley/proto/parley/agent/v1/tool.ts";
import { normalizeVariableName } from "@parley/shared/domain/variables/name";
import { refuseUnstorable } from "@parley/shared/json/storable-json";
import { beginningOf } from "../../store/turns/kept-tool-calls.ts";
import { keptOf, valueAt } from "./pointers.ts";

/** Of an answer, the bytes that are read; of those, what the model gets; and what it gets of an error (docs/tools.md). */
export const ANSWER_BYTES_MAX = 256 * 1024;
export const MODEL_BYTES_MAX = 32 * 1024;
export const ERROR_BYTES_MAX = 4 * 1024;
const VARIABLE_BYTES_MAX = 16 * 1024;
/** In JSON, half of a character, which Postgres cannot store. */
export const HALF_CHARACTER = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

interface HttpAnswer {
  status: number;
  /** With secrets masked. */
  text: string;
  /** Whether it was longer than what was read. */
  isCut: boolean;
}

interface TakenAnswer {
  forModel: string;
  isError: boolean;
  /** Values for dynamic variables by canonical key. */
  assignments: Record<string, unknown>;
  /** Variables whose values are too long or cannot be stored. */
  dropped: string[];
}

/** What the model is told in place of a hidden answer. */
const HIDDEN = "The request succeeded.";

/** What the model is told of an answer, and what dynamic variables take from it. */
export function takeAnswer(answer: HttpAnswer, { result, assignments }: HttpTool): TakenAnswer {
  const { status, text, isCut } = answer;
  if (status < 200 || status > 299) {
    const body = result?.hide ? "" : withRestNoted(text, ERROR_BYTES_MAX);
    const forModel = `The request failed with HTTP status ${status}${body === "" ? "." : `: ${body}`}`;
    return { forModel, isError: true, assignments: {}, dropped: [] };
  }
  const document = isCut ? undefined : parse(text);
  const taken = assignedBy(assignments, document, text);
  if (result?.hide) return { forModel: HIDDEN, isError: false, ...taken };
  if (!result || result.keep.length === 0) {
    const whole = text === "" ? `The request succeeded with HTTP status ${status} and no content.` : text;
    return { forModel: withRestNoted(whole, MODEL_BYTES_MAX), isError: false, ...taken };
  }
  if (document === undefined) {
    const why = isCut ? `is longer than ${ANSWER_BYTES_MAX} bytes` : "is not JSON";
    return { forModel: `The request succeeded, but its answer ${why}.`, isError: true, ...taken };
  }
  const kept = keptOf(document, result.keep);
  const forModel = kept === undefined ? "The answer has none of the expected fields." : JSON.stringify(kept);
  return { forModel: withRestNoted(forModel, MODEL_BYTES_MAX), isError: false, ...taken };
}

/** The number of a list's item, which is another one once a filter has left items out. */
const ITEM = /\/\d+(?=\/|$)/;

/** What the model is told of what one was told before: without the fields that the filter has come to leave out since. */
export function toldAnew(told: string, { result }: Pick<HttpTool, "result">): string {
  if (result?.hide) return HIDDEN;
  const keep = result?.keep ?? [];
  if (keep.length === 0 || keep.some((pointer) => ITEM.test(pointer))) return told;
  const kept = keptOf(parse(told), keep);
  return kept === undefined ? told : JSON.stringify(kept);
}

function assignedBy(assignments: HttpTool["assignments"], document: unknown, text: string) {
  const taken: Pick<TakenAnswer, "assignments" | "dropped"> = { assignments: {}, dropped: [] };
  for (const { variable, pointer } of assignments) {
    const value = document === undefined && pointer === "" ? text : valueAt(document, pointer);
    if (value === undefined) continue;
    const key = normalizeVariableName(variable);
    if (isStorable(value)) taken.assignments[key] = value;
    else taken.dropped.push(key);
  }
  return taken;
}

/** Whether a variable can have the value. With another one, its conversation could not be stored or read anymore. */
function isStorable(value: unknown): boolean {
  try {
    refuseUnstorable(value, "The value");
  } catch {
    return false;
  }
  const json = JSON.stringify(value);
  return Buffer.byteLength(json) <= VARIABLE_BYTES_MAX && !HALF_CHARACTER.test(json);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const REST = "\n[The rest is left out.]";

/** The beginning of a text, with a note where the rest is left out; together at most so many bytes. */
export function withRestNoted(text: string, bytesMax: number): string {
  if (Buffer.byteLength(text) <= bytesMax) return text;
  return beginningOf(text, bytesMax - REST.length).text + REST;
}
