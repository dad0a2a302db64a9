import { describe, expect, test } from "bun:test";
import { type FieldType, parseNotation } from "@parley/shared/domain/analysis/notation";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import { failedItems, readAnswer } from "./answer.ts";
import { analysisFields, answerSchema } from "./fields.ts";
import { readField } from "./read-field.ts";

const fieldsOf = (schema: Record<string, string>) =>
  analysisFields(Object.fromEntries(Object.entries(schema).map(([name, type]) => [name, { type }])));

describe("the schema that an answer must follow", () => {
  test("is one closed object with every field required, and null for a missing Optional", () => {
    expect(answerSchema(fieldsOf({ mood: "Optional[str]", solved: "bool" }))).toEqual({
      type: "object",
      properties: { mood: { anyOf: [{ type: "string" }, { type: "null" }] }, solved: { type: "boolean" } },
      required: ["mood", "solved"],
      additionalProperties: false,
    });
  });

  test("renames a field whose name a provider may refuse, and gives the name as its description", () => {
    const fields = fieldsOf({ "Customer mood": "str", field_1: "int", "ça va": "bool" });
    expect(fields.map(({ key }) => key)).toEqual(["field_1_", "field_1", "field_3"]);
    expect(answerSchema(fields)).toMatchObject({
      properties: { field_1_: { type: "string", description: "Customer mood" }, field_1: { type: "integer" } },
    });
    const items = readAnswer(fields, '{"field_1_": "calm", "field_1": 3, "ça va": true}');
    expect(items).toEqual([
      { name: "Customer mood", value: "calm", type: "str" },
      { name: "field_1", value: 3, type: "int" },
      { name: "ça va", value: true, type: "bool" },
    ]);
  });

  test("is strict at every level, whatever the notation", () => {
    const check = (schema: unknown): void => {
      if (typeof schema !== "object" || schema === null) return;
      const { type, properties, required, additionalProperties } = schema as Record<string, unknown>;
      if (type === "object") {
        expect(additionalProperties).toBe(false);
        expect(required).toEqual(Object.keys(properties as object));
      }
      for (const part of Object.values(schema)) check(part);
    };
    fc.assert(fc.property(notation(), (text) => check(answerSchema(fieldsOf({ field: text })))));
  });
});

describe("an answer", () => {
  const fields = fieldsOf({ mood: 'Literal["calm","angry"]', calls: "int", notes: "Optional[list[str]]" });

  test("gives each field its value, and each missing field its own reason", () => {
    expect(readAnswer(fields, '{"mood": "calm", "calls": 2, "notes": ["a"]}')).toEqual([
      { name: "mood", value: "calm", type: 'Literal["calm","angry"]' },
      { name: "calls", value: 2, type: "int" },
      { name: "notes", value: ["a"], type: "Optional[list[str]]" },
    ]);
    expect(readAnswer(fields, '{"mood": "furious", "calls": "2", "extra": 1}')).toEqual([
      { name: "mood", value: null, type: 'Literal["calm","angry"]', error: 'the model gave "furious" instead' },
      { name: "calls", value: null, type: "int", error: 'the model gave "2" instead' },
      { name: "notes", value: null, type: "Optional[list[str]]" },
    ]);
    expect(readAnswer(fields, "{}")?.[0]).toMatchObject({ value: null, error: "the model left it out" });
  });

  test("without an object cannot be read", () => {
    expect(readAnswer(fields, "All went well.")).toBeNull();
  });

  test("is a single summary when there is no schema", () => {
    expect(readAnswer([], " All went\0 well. \n")).toEqual([{ name: "summary", value: "All went well.", type: "str" }]);
    expect(readAnswer([], " \n")).toBeNull();
    expect(failedItems([], "no")).toEqual([{ name: "summary", value: null, type: "str", error: "no" }]);
  });
});

describe("a field's value", () => {
  test.each<[string, unknown, unknown]>([
    ["int", 3, 3],
    ["int", 3.5, undefined],
    ["int", true, undefined],
    ["float", 3, 3],
    ["float", Number.POSITIVE_INFINITY, undefined],
    ["bool", "true", undefined],
    ["str", 1, undefined],
    ["str", "a\0b\ud800", "ab\ufffd"],
    ["list[int]", [1, "2"], undefined],
    ["list[int]", 1, undefined],
    ["Optional[int]", undefined, null],
    ["Optional[int]", "1", undefined],
    ["dict", { a: { b: [1, null] } }, { a: { b: [1, null] } }],
    ["dict", [{ key: "a", value: 1 }], { a: 1 }],
    ["dict", [{ key: "a" }], undefined],
    ["dict", "{}", undefined],
    ["dict", JSON.parse('{"__proto__": 1, "a\\u0000": "\\ud800"}'), { a: "\ufffd" }],
    ["dict", JSON.parse(`{"a":${"[".repeat(40)}${"]".repeat(40)}}`), undefined],
  ])("of type %s, given %j, is %j", (text, given, value) => {
    const read = readField(parseNotation(text), given);
    if (value === undefined) expect(read).toEqual({ error: expect.any(String) });
    else expect(read).toEqual({ value: value as never });
  });

  test("of its type is taken unchanged, and fits the type when it is read again", () => {
    const typed = notation().chain((text) => fc.tuple(fc.constant(parseNotation(text)), valueFor(parseNotation(text))));
    fc.assert(
      fc.property(typed, ([type, given]) => {
        const read = readField(type, JSON.parse(JSON.stringify(given)));
        expect(read).toHaveProperty("value");
        if ("value" in read) expect(readField(type, read.value)).toEqual(read);
      }),
    );
  });

  test("of any other type becomes a value of the type or an error, and never throws", () => {
    fc.assert(
      fc.property(notation(), fc.jsonValue(), (text, given) => {
        const type = parseNotation(text);
        const read = readField(type, given);
        if ("value" in read) expect(readField(type, read.value)).toEqual(read);
        else expect(read.error).not.toBe("");
      }),
    );
  });
});

function notation(): fc.Arbitrary<string> {
  const { any } = fc.letrec<{ any: string }>((tie) => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom("str", "int", "float", "bool", "dict", 'Literal["yes","no"]'),
      tie("any").map((of) => `list[${of}]`),
      tie("any").map((of) => `Optional[${of}]`),
    ),
  }));
  return any;
}

/** Answers that a model could give if it follows the schema. */
function valueFor(type: FieldType): fc.Arbitrary<unknown> {
  switch (type.kind) {
    case "str":
      return fc.string({ unit: anyCharacter });
    case "int":
      return fc.integer();
    case "float":
      return fc.double({ noNaN: true, noDefaultInfinity: true });
    case "bool":
      return fc.boolean();
    case "literal":
      return fc.constantFrom(...type.words);
    case "dict":
      return fc.array(fc.record({ key: fc.string(), value: fc.oneof(fc.string(), fc.integer(), fc.constant(null)) }));
    case "list":
      return fc.array(valueFor(type.of), { maxLength: 3 });
    case "optional":
      return fc.option(valueFor(type.of));
  }
}
