import { type FieldType, type Placeholder, parseText } from "./grammar.ts";
import { isSystemVariable } from "./name.ts";
import { byCanonicalKey, textOfValue, type VariableValue } from "./values.ts";

/** A variable that a text uses (docs/api-reference.md#dynamic-variables). */
export interface VariableDefinition {
  variableName: string;
  required: boolean;
  fieldType: FieldType;
  description: string;
}

interface Template {
  /** One per canonical key, in the order of first use; without system variables, which nobody has to give. */
  readonly definitions: VariableDefinition[];
  /**
   * Fills the text at the index in one pass: values are never expanded, and a list or an object stands there as JSON. A given value, even an empty string, overrides
   * the default; a variable with neither, and a system variable without a value, becomes an empty string. Names in `values` are normalized; the first one of a
   * key wins. Returns null when the result would exceed `lengthMax` characters (UTF-16 units), which is checked before
   * filling. Throws a RangeError for an index without a text.
   */
  fill(index: number, values: Readonly<Record<string, VariableValue>>, lengthMax?: number): string | null;
}

const INFERRED_TYPES: readonly { fieldType: FieldType; words: readonly string[] }[] = [
  { fieldType: "EMAIL", words: ["email"] },
  { fieldType: "PHONE", words: ["phone", "mobile"] },
  { fieldType: "NUMBER", words: ["number", "amount", "count", "age", "price", "quantity", "total"] },
];

/**
 * Parses texts that share their variables, once for many fills. Pass them in reading order, `[prompt, firstMessage]`: a variable's
 * first default, type and description apply in all of them.
 */
export function compileTexts(texts: readonly string[]): Template {
  const parsed = texts.map((text) => parseText(text));
  const variables = mergeByKey(parsed);
  return {
    // Whoever fills the texts does not need them.
    get definitions() {
      return [...variables.values()].filter(({ key }) => !isSystemVariable(key)).map(toDefinition);
    },
    fill(index, values, lengthMax = Number.POSITIVE_INFINITY) {
      const pieces = parsed[index];
      if (!pieces) throw new RangeError(`No text ${index}: ${parsed.length} were compiled`);
      const given = byCanonicalKey(values);
      const defaultOf = (key: string) => (isSystemVariable(key) ? null : variables.get(key)?.defaultText);
      const filled = pieces.map((piece) =>
        typeof piece === "string" ? piece : textOfValue(given.get(piece.key) ?? defaultOf(piece.key) ?? ""),
      );
      const length = filled.reduce((sum, text) => sum + text.length, 0);
      return length > lengthMax ? null : filled.join("");
    },
  };
}

function mergeByKey(parsed: readonly (string | Placeholder)[][]): Map<string, Placeholder> {
  const variables = new Map<string, Placeholder>();
  for (const piece of parsed.flat()) {
    if (typeof piece === "string") continue;
    const first = variables.get(piece.key);
    variables.set(piece.key, {
      key: piece.key,
      fieldType: first?.fieldType ?? piece.fieldType,
      description: first?.description ?? piece.description,
      defaultText: first?.defaultText ?? piece.defaultText,
    });
  }
  return variables;
}

function toDefinition({ key, fieldType, description, defaultText }: Placeholder): VariableDefinition {
  return {
    variableName: key,
    required: defaultText === null,
    fieldType: fieldType ?? inferType(key),
    description: description ?? describe(key),
  };
}

function inferType(key: string): FieldType {
  const words = key.split("_");
  return INFERRED_TYPES.find((inferred) => inferred.words.some((word) => words.includes(word)))?.fieldType ?? "STRING";
}

function describe(key: string): string {
  const [first = "", ...rest] = key;
  return first.toUpperCase() + rest.join("").replaceAll("_", " ");
}
