import { anyCharacter } from "@parley/testkit/any-character";
import fc, { type Arbitrary } from "fast-check";

/** A JSON Schema as in the OpenAPI document. */
export interface Schema {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  patternProperties?: Record<string, Schema>;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  examples?: unknown[];
}

/** Values that break software that trusts its input; they may replace any value. */
export const HOSTILE: Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    -1,
    0,
    1e308,
    -1e308,
    Number.MAX_SAFE_INTEGER + 2,
    0.1,
    "",
    " ",
    "\0",
    "a\0b",
    "\ud800",
    "\udfff\ud800",
    "%00",
    "../../etc/passwd",
    "'; drop table agents; --",
    "{{".repeat(2_000),
    "x".repeat(200_000),
    "🦜".repeat(4_001),
    [],
    {},
    [[[[[[[[]]]]]]]],
    { __proto__: 1, constructor: 2, toString: 3 },
    JSON.parse('{"__proto__":{"polluted":true}}'),
    nested(70),
  ),
  fc.string({ unit: anyCharacter }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Values of a schema, sometimes with one replaced by a hostile value. */
export function arbitraryOf(schema: Schema, components: Record<string, Schema>, depth = 0): Arbitrary<unknown> {
  const fitting = fittingArbitrary(schema, components, depth);
  return fc.oneof({ weight: 12, arbitrary: fitting }, { weight: 1, arbitrary: HOSTILE });
}

const DEPTH_MAX = 6;

function fittingArbitrary(schema: Schema, components: Record<string, Schema>, depth: number): Arbitrary<unknown> {
  const below = (inner: Schema) => arbitraryOf(inner, components, depth + 1);
  if (schema.$ref) return fittingArbitrary(components[schema.$ref.split("/").at(-1) ?? ""] ?? {}, components, depth);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(below));
  if (depth > DEPTH_MAX) return fc.jsonValue({ maxDepth: 1 });
  switch (schema.type) {
    case "string":
      return schema.examples ? fc.oneof(fc.constantFrom(...schema.examples), fc.string()) : textOf(schema);
    case "integer":
      return fc.integer({ min: (schema.minimum ?? -5) - 1, max: Math.min(schema.maximum ?? 1_000, 1_000) + 1 });
    case "number":
      return fc.double({ min: (schema.minimum ?? -10) - 1, max: (schema.maximum ?? 10) + 1, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(below(schema.items ?? {}), { maxLength: 4 });
    case "object":
      return objectOf(schema, below);
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function textOf({ minLength = 0, maxLength = 50 }: Schema): Arbitrary<string> {
  return fc.string({ minLength, maxLength: Math.max(minLength, Math.min(maxLength, 120)), unit: "grapheme" });
}

function objectOf(schema: Schema, below: (inner: Schema) => Arbitrary<unknown>): Arbitrary<unknown> {
  if (!schema.properties) {
    const [inner = {}] = Object.values(schema.patternProperties ?? {});
    return fc.dictionary(fc.string({ maxLength: 20 }), below(inner), { maxKeys: 4 });
  }
  const fields = Object.fromEntries(Object.entries(schema.properties).map(([name, inner]) => [name, below(inner)]));
  // Sometimes even a required field is missing.
  return fc.oneof(
    { weight: 9, arbitrary: fc.record(fields, { requiredKeys: schema.required ?? [] }) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
  );
}

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { a: nested(depth - 1) };
}
