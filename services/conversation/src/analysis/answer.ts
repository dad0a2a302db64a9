import type { AnalysisItem } from "../store/conversations.ts";
import { extractJson } from "./extract-json.ts";
import type { AnalysisField } from "./fields.ts";
import { type FieldValue, readField } from "./read-field.ts";

/** Without a schema the answer is one text. */
const SUMMARY = { name: "summary", notation: "str", type: { kind: "str" } } as const;

/**
 * Converts a model's answer to the stored form: one item per field, with its value or the reason why it has none.
 * Returns null when the answer as a whole cannot be parsed.
 */
export function readAnswer(fields: readonly AnalysisField[], text: string): AnalysisItem[] | null {
  if (fields.length === 0) {
    const summary = text.trim();
    return summary === "" ? null : [itemOf(SUMMARY, readField(SUMMARY.type, summary))];
  }
  const answer = extractJson(text);
  return answer && fields.map((field) => itemOf(field, readField(field.type, givenFor(field, answer))));
}

/** The items stored for a failed analysis. */
export function failedItems(fields: readonly AnalysisField[], error: string): AnalysisItem[] {
  return (fields.length === 0 ? [SUMMARY] : fields).map((field) => itemOf(field, { error }));
}

function itemOf({ name, notation }: Pick<AnalysisField, "name" | "notation">, outcome: FieldValue): AnalysisItem {
  if ("value" in outcome) return { name, value: outcome.value, type: notation };
  return { name, value: null, type: notation, error: outcome.error };
}

/** Models sometimes answer under the field's name instead of the key they were given. */
function givenFor({ key, name }: AnalysisField, answer: Readonly<Record<string, unknown>>): unknown {
  return [key, name].filter((asked) => Object.hasOwn(answer, asked)).map((asked) => answer[asked])[0];
}
