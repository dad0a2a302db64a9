import { describe, expect, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import { type FieldType, NotationError, parseNotation, toJsonSchema } from "./notation.ts";

const PAIR = {
  key: { type: "string" },
  value: { anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "null" }] },
};
const PAIRS = {
  type: "array",
  items: { type: "object", properties: PAIR, required: ["key", "value"], additionalProperties: false },
};

describe("a field's notation", () => {
  test.each<[string, FieldType, object]>([
    ["str", { kind: "str" }, { type: "string" }],
    [" int ", { kind: "int" }, { type: "integer" }],
    ["float", { kind: "float" }, { type: "number" }],
    ["bool", { kind: "bool" }, { type: "boolean" }],
    ["dict", { kind: "dict" }, PAIRS],
    ["list[str]", { kind: "list", of: { kind: "str" } }, { type: "array", items: { type: "string" } }],
    ["Optional[ int ]", { kind: "optional", of: { kind: "int" } }, { anyOf: [{ type: "integer" }, { type: "null" }] }],
    ['Literal["a", "b\\"c"]', { kind: "literal", words: ["a", 'b"c'] }, { type: "string", enum: ["a", 'b"c'] }],
  ])("%j is read and has a JSON Schema", (text, type, schema) => {
    expect(parseNotation(text)).toEqual(type);
    expect<object>(toJsonSchema(type)).toEqual(schema);
  });

  test("may be nested 16 deep", () => {
    const nested = (depth: number) => `${"list[".repeat(depth)}str${"]".repeat(depth)}`;
    expect(parseNotation(nested(16))).toMatchObject({ kind: "list" });
    expect(() => parseNotation(nested(17))).toThrow("be nested at most 16 deep");
  });

  test.each([
    "",
    "string",
    "Str",
    "list",
    "list[]",
    "list[str",
    "list[str]]",
    "str int",
    "Optional[str, int]",
    "Literal[]",
    "Literal[a]",
    'Literal["a",]',
    'Literal["a" "b"]',
    'Literal[""]',
    "Literal['a']",
    "list".concat("[list".repeat(20), "]".repeat(20)),
    `${"list[".repeat(5_000)}str${"]".repeat(5_000)}`,
  ])("%j is refused", (text) => {
    expect(() => parseNotation(text)).toThrow(NotationError);
  });

  test("is read back as it was written, whatever its shape", () => {
    const leaf = fc.constantFrom("str", "int", "float", "bool", "dict");
    const literal = fc
      .array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 4 })
      .map((words) => `Literal[${words.map((word) => JSON.stringify(word)).join(",")}]`);
    const { notation } = fc.letrec<{ notation: string }>((tie) => ({
      notation: fc.oneof(
        { maxDepth: 8 },
        leaf,
        literal,
        tie("notation").map((of) => `list[${of}]`),
        tie("notation").map((of) => `Optional[${of}]`),
      ),
    }));
    fc.assert(fc.property(notation, (text) => expect(written(parseNotation(text))).toBe(text)));
  });

  test("a word of 100,000 escaped quotes that never ends is refused after one reading", () => {
    const endless = `Literal["${'\\"'.repeat(100_000)}`;
    expect(() => parseNotation(endless)).toThrow("have words in double quotes");
  });

  test("any other text is refused, and the reader never throws", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        try {
          parseNotation(text);
        } catch (error) {
          expect(error).toBeInstanceOf(NotationError);
        }
      }),
    );
  });
});

function written(type: FieldType): string {
  if (type.kind === "literal") return `Literal[${type.words.map((word) => JSON.stringify(word)).join(",")}]`;
  if (type.kind === "list") return `list[${written(type.of)}]`;
  if (type.kind === "optional") return `Optional[${written(type.of)}]`;
  return type.kind;
}
