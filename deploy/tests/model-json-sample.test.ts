import { expect, test } from "bun:test";
import fc from "fast-check";
import { sampleJson } from "../src/model/json-sample.ts";

type Schema = Record<string, unknown>;

test.each([
  ["a string", { type: "string" }, "a phrase"],
  ["a string of a least length", { type: "string", minLength: 12 }, "a phrase...."],
  ["a string of a greatest length", { type: "string", maxLength: 3 }, "a p"],
  ["a date", { type: "string", format: "date" }, "2026-01-01"],
  ["an integer from 3", { type: "integer", minimum: 3 }, 3],
  ["an integer above 2.5 and below 4", { type: "integer", exclusiveMinimum: 2.5, exclusiveMaximum: 4 }, 3],
  ["a number between 0 and 1", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
  ["a multiple of 5 up to -7", { type: "integer", multipleOf: 5, maximum: -7 }, -10],
  ["a boolean", { type: "boolean" }, true],
  ["null", { type: "null" }, null],
  ["a value of an enum", { enum: [null, "good", "bad"] }, "good"],
  ["a constant", { const: { a: 1 } }, { a: 1 }],
  ["a nullable type", { type: ["null", "integer"] }, 0],
  ["a nullable branch", { anyOf: [{ type: "null" }, { type: "integer" }] }, 0],
  ["the first branch that has a value", { oneOf: [{ type: "integer", minimum: 1, maximum: 0 }, { const: "b" }] }, "b"],
  ["a list with a least length", { type: "array", items: { type: "integer" }, minItems: 2 }, [0, 0]],
  ["a tuple", { type: "array", prefixItems: [{ const: 1 }, { const: 2 }], items: false }, [1, 2]],
  ["a list that must be empty", { type: "array", maxItems: 0 }, []],
  [
    "an object of all its properties",
    { properties: { a: { const: 1 }, b: {} }, required: ["a"] },
    { a: 1, b: "a phrase" },
  ],
  ["a required property without a schema", { type: "object", required: ["a"] }, { a: "a phrase" }],
  ["any object", { type: "object", additionalProperties: true }, {}],
  ["everything of allOf", { allOf: [{ type: "integer" }, { minimum: 4 }] }, 4],
  ["a definition", { $ref: "#/$defs/a~1b", $defs: { "a/b": { type: "integer", minimum: 2 } } }, 2],
] as [string, Schema, unknown][])("the sampler makes %s", (_, schema, value) => {
  expect(sampleJson(schema, "a phrase")).toEqual(value);
});

test("the sampler ends a recursive schema at its first chance", () => {
  const node = { type: "object", properties: { next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } } };
  const tree = {
    type: "object",
    properties: { branches: { type: "array", items: { $ref: "#" } } },
    required: ["branches"],
  };
  expect(sampleJson({ $ref: "#/$defs/node", $defs: { node } }, "")).toEqual({ next: null });
  expect(sampleJson(tree, "")).toEqual({ branches: [] });
});

test.each([
  ["contradictory bounds", { type: "integer", minimum: 2, maximum: 1 }],
  ["no room between integers", { type: "integer", exclusiveMinimum: 1, exclusiveMaximum: 2 }],
  ["a string that must be too long", { type: "string", minLength: 1e9 }],
  ["a list that must be too long", { type: "array", minItems: 1e9 }],
  ["an object that must contain itself", { type: "object", properties: { a: { $ref: "#" } }, required: ["a"] }],
  ["a reference to nothing", { $ref: "#/$defs/none" }],
  ["a reference elsewhere", { $ref: "https://example.com/schema" }],
  ["an unknown type", { type: "str" }],
  ["no schema", 7],
])("the sampler finds no value for %s", (_, schema) => expect(sampleJson(schema, "a phrase")).toBeUndefined());

test("the sampler gives up on a schema that branches without bound, and on one nested without end", () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 64 }, (_, n) => [
      `d${n}`,
      {
        type: "object",
        properties: { a: { $ref: `#/$defs/d${n + 1}` }, b: { $ref: `#/$defs/d${n + 1}` } },
        required: ["a", "b"],
      },
    ]),
  );
  expect(sampleJson({ $ref: "#/$defs/d0", $defs: { ...doubling, d64: {} } }, "")).toBeUndefined();
  let deep: Schema = { type: "string" };
  for (let n = 0; n < 50_000; n++) deep = { type: "array", items: deep, minItems: 1 };
  expect(sampleJson(deep, "")).toBeUndefined();
});

test("a sample satisfies its schema, whatever the schema and the phrase", () => {
  fc.assert(
    fc.property(schemas, fc.string({ unit: "binary" }), (schema, phrase) => {
      const value = sampleJson(schema, phrase);
      expect(satisfies(JSON.parse(JSON.stringify(value)), schema)).toBe(true);
      expect(sampleJson(schema, phrase)).toEqual(value);
    }),
    { numRuns: 500 },
  );
});

const bounds = (low: string, high: string, arbitrary: fc.Arbitrary<number>) =>
  fc.tuple(fc.option(arbitrary), fc.option(arbitrary)).map(([one, other]): Schema => {
    const [min, max] = one !== null && other !== null ? [Math.min(one, other), Math.max(one, other)] : [one, other];
    return { ...(min !== null && { [low]: min }), ...(max !== null && { [high]: max }) };
  });

const { schema: schemas } = fc.letrec<{ schema: Schema }>((tie) => ({
  schema: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.constantFrom<Schema>({ type: "boolean" }, { type: "null" }, { enum: ["a", null, 3] }, { const: [1, "b"] }),
    bounds("minLength", "maxLength", fc.nat(40)).map((limits) => ({ type: "string", ...limits })),
    bounds("minimum", "maximum", fc.integer()).map((limits) => ({ type: "integer", ...limits })),
    bounds("minimum", "maximum", fc.double({ noNaN: true, min: -1e9, max: 1e9 })).map((limits) => ({
      type: "number",
      ...limits,
    })),
    fc.constant<Schema>({ type: ["string", "null"] }),
    fc
      .tuple(tie("schema"), bounds("minItems", "maxItems", fc.nat(3)))
      .map(([items, limits]): Schema => ({ type: "array", items, ...limits })),
    fc
      .tuple(fc.dictionary(fc.string(), tie("schema"), { maxKeys: 4 }), fc.boolean())
      .map(
        ([properties, all]): Schema => ({ type: "object", properties, required: all ? Object.keys(properties) : [] }),
      ),
    fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf): Schema => ({ anyOf })),
  ),
}));

function satisfies(value: unknown, schema: Schema): boolean {
  if (schema.anyOf) return (schema.anyOf as Schema[]).some((branch) => satisfies(value, branch));
  if (schema.enum) return (schema.enum as unknown[]).includes(value);
  if ("const" in schema) return Bun.deepEquals(value, schema.const);
  return [schema.type].flat().some((type) => isOfType(value, type, schema));
}

function isOfType(value: unknown, type: unknown, schema: Schema): boolean {
  const within = (size: number, low: unknown, high: unknown) =>
    size >= ((low as number) ?? Number.NEGATIVE_INFINITY) && size <= ((high as number) ?? Number.POSITIVE_INFINITY);
  if (type === "null") return value === null;
  if (type === "boolean") return typeof value === "boolean";
  if (type === "string")
    return typeof value === "string" && within([...value].length, schema.minLength, schema.maxLength);
  if (type === "array") {
    const fits = (item: unknown) => satisfies(item, schema.items as Schema);
    return Array.isArray(value) && within(value.length, schema.minItems, schema.maxItems) && value.every(fits);
  }
  if (type === "object") {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const properties = schema.properties as Record<string, Schema>;
    const has = (key: string) => Object.hasOwn(value, key);
    return (
      (schema.required as string[]).every(has) &&
      Object.entries(value).every(([key, item]) => satisfies(item, properties[key] ?? {}))
    );
  }
  const isNumber = typeof value === "number" && (type === "number" || Number.isInteger(value));
  return isNumber && within(value, schema.minimum, schema.maximum);
}
