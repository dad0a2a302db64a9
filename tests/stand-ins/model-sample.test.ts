import { expect, test } from "bun:test";
import { sampleJson } from "@parley/dev/stand-ins/model/sample.ts";
import Ajv from "ajv/dist/2020";
import fc from "fast-check";

test("the strings of a sample are the phrase, as far as their lengths allow", () => {
  const schema = {
    type: "object",
    properties: {
      summary: { type: "string" },
      short: { type: "string", maxLength: 3 },
      long: { type: "string", minLength: 12 },
      mood: { enum: ["good", "bad"] },
    },
    required: ["summary", "short", "long", "mood"],
    additionalProperties: false,
  };
  expect(sampleJson(schema, "a phrase")).toEqual({
    summary: "a phrase",
    short: "a p",
    long: "a phrase....",
    mood: expect.stringMatching(/good|bad/),
  });
});

test.each([
  ["a string that must be too long", { type: "string", minLength: 1e9 }],
  ["a list that must be too long", { type: "array", items: { type: "integer" }, minItems: 1e9 }],
  ["a reference to nothing", { $ref: "#/$defs/none" }],
  ["an unknown type", { type: "str" }],
  ["no schema", 7],
])("there is no sample of %s", (_, schema) => expect(sampleJson(schema, "a phrase")).toBeUndefined());

const { schema: schemas } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Record<string, unknown>>({ type: "boolean" }, { enum: ["a", null, 3] }, { type: "string" }),
    fc.constantFrom<Record<string, unknown>>({ type: ["string", "null"] }, { type: "number" }, { type: "integer" }),
    tie("schema").map((items) => ({ type: "array", items })),
    fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), tie("schema"), { maxKeys: 4 }).map((properties) => ({
      type: "object",
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    })),
    tie("schema").map((one) => ({ anyOf: [one, { type: "null" }] })),
  ),
}));

test("a sample satisfies its schema and is always the same, for every form that an analysis asks for", () => {
  const ajv = new Ajv({ strict: false });
  fc.assert(
    fc.property(schemas, fc.string({ unit: "grapheme" }), (schema, phrase) => {
      const value = sampleJson(schema, phrase);
      expect(ajv.validate(schema, value)).toBe(true);
      expect(sampleJson(schema, phrase)).toEqual(value);
    }),
    { numRuns: 300 },
  );
});
