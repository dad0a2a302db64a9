/** The type of an analysis field, as `call_analysis_schema` gives it (docs/api-reference.md#analysis-settings). */
export type FieldType =
  | { kind: "str" | "int" | "float" | "bool" | "dict" }
  | { kind: "list" | "optional"; of: FieldType }
  | { kind: "literal"; words: readonly string[] };

/** An invalid notation; the message completes "must …". */
export class NotationError extends Error {
  override readonly name = "NotationError";
}

const SIMPLE = new Set(["str", "int", "float", "bool", "dict"]);
const FORMS = 'be one of str, int, float, bool, dict, list[T], Optional[T] or Literal["a","b"]';
const DEPTH_MAX = 16;
/** A word without its closing quote is one token too: each of its quotes would otherwise be read to the end of the text. */
const TOKEN = /\s*(?:([A-Za-z]+)|("(?:[^"\\]|\\.)*"?)|(\S))/y;

/** @throws NotationError */
export function parseNotation(text: string): FieldType {
  const tokens = tokenize(text);
  const type = parseType(tokens, 0);
  if (tokens.length > 0) throw new NotationError(FORMS);
  return type;
}

/** The values of a dict; OpenAI guarantees answers only for schemas that limit them. */
const SCALARS = ["string", "number", "boolean", "null"].map((type) => ({ type }));

/**
 * The JSON Schema that asks a model for a field, in the form that OpenAI's strict mode accepts: every object closed,
 * with all fields required. A dict has unknown keys, so it is requested as a list of pairs (`readField` accepts both).
 */
export function toJsonSchema(type: FieldType): Record<string, unknown> {
  switch (type.kind) {
    case "str":
      return { type: "string" };
    case "int":
      return { type: "integer" };
    case "float":
      return { type: "number" };
    case "bool":
      return { type: "boolean" };
    case "dict":
      return {
        type: "array",
        items: {
          type: "object",
          properties: { key: { type: "string" }, value: { anyOf: SCALARS } },
          required: ["key", "value"],
          additionalProperties: false,
        },
      };
    case "list":
      return { type: "array", items: toJsonSchema(type.of) };
    case "optional":
      return { anyOf: [toJsonSchema(type.of), { type: "null" }] };
    case "literal":
      return { type: "string", enum: [...type.words] };
  }
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  const end = text.trimEnd().length;
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < end) {
    const match = TOKEN.exec(text);
    if (!match) throw new NotationError(FORMS);
    tokens.push(match[1] ?? match[2] ?? match[3] ?? "");
  }
  return tokens;
}

function parseType(tokens: string[], depth: number): FieldType {
  if (depth > DEPTH_MAX) throw new NotationError(`be nested at most ${DEPTH_MAX} deep`);
  const name = tokens.shift() ?? "";
  if (SIMPLE.has(name)) return { kind: name as "str" };
  if (name === "list" || name === "Optional") {
    expectToken(tokens, "[");
    const of = parseType(tokens, depth + 1);
    expectToken(tokens, "]");
    return { kind: name === "list" ? "list" : "optional", of };
  }
  if (name === "Literal") return { kind: "literal", words: parseWords(tokens) };
  throw new NotationError(FORMS);
}

function parseWords(tokens: string[]): string[] {
  const words: string[] = [];
  expectToken(tokens, "[");
  do {
    words.push(parseWord(tokens.shift() ?? ""));
  } while (tokens[0] === "," && tokens.shift());
  expectToken(tokens, "]");
  return words;
}

function parseWord(token: string): string {
  try {
    const word: unknown = JSON.parse(token);
    if (typeof word === "string" && word !== "") return word;
  } catch {}
  throw new NotationError('have words in double quotes in Literal, such as Literal["yes","no"]');
}

function expectToken(tokens: string[], expected: string): void {
  if (tokens.shift() !== expected) throw new NotationError(FORMS);
}
