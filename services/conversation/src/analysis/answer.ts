import type { AnalysisItem } from "../store/conversations.ts";
import { extractJson } from "./extract-json.ts";
import type { AnalysisField } from "./fields.ts";
import { type FieldValue, readField } from "./read-field.ts";

/** Without a schema the answer is one text. */
const SUMMARY = { name: "summary", notation: "str", type: { kind: "str" } } as const;

/**
 * A model's answer as it is kept: one item a field, each with its value or with why it has none. Null when the answer as a whole
 * cannot be read.
 */
export function readAnswer(fields: readonly AnalysisField[], text: string): AnalysisItem[] | null {
  if (fields.length === 0) {
    const summary = text.trim();
    return summary === "" ? null : [itemOf(SUMMARY, readField(SUMMARY.type, summary))];
  }
  const answer = extractJson(text);
  return answer && fields.map((field) => itemOf(field, readField(field.type, givenFor(field, answer))));
}

/** What is kept of an analysis that did not come about. */
export function failedItems(fields: readonly AnalysisField[], error: string): AnalysisItem[] {
  return (fields.length === 0 ? [SUMMARY] : fields).map((field) => itemOf(field, { error }));
}

function itemOf({ name, notation }: Pick<AnalysisField, "name" | "notation">, outcome: FieldValue): AnalysisItem {
  if ("value" in outcome) return { name, value: outcome.value, type: notation };
  return { name, value: null, type: notation, error: outcome.error };
}

/** Under the key it was asked for by, or under the name it stands for. */
function givenFor({ key, name }: AnalysisField, answer: Readonly<Record<string, unknown>>): unknown {
  return [key, name].filter((asked) => Object.hasOwn(answer, asked)).map((asked) => answer[asked])[0];
}
