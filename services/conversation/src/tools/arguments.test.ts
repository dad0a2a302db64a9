import { expect, test } from "bun:test";
import { argumentsFault } from "./arguments.ts";

function faultOf(inputSchema: Record<string, unknown>, input: Record<string, unknown>): string | null {
  return argumentsFault(
    { name: "find", json: JSON.stringify(input), input },
    { name: "find", description: "", inputSchema },
  );
}

test("what does not fit a schema is told with its place", () => {
  const schema = { type: "object", properties: { order: { type: "object", properties: { id: { type: "string" } } } } };
  expect(faultOf(schema, { order: { id: "7" } })).toBeNull();
  expect(faultOf(schema, { order: { id: 7 } })).toContain("wrong at order.id");
  const strict = { ...schema, additionalProperties: false };
  expect(faultOf(strict, { oder: "7" })).toContain("wrong at oder: The tool does not have this argument.");
});

test.each<[string, unknown]>([
  ["a regular expression that takes years", { type: "string", pattern: "^(a+)+$" }],
  ["a regular expression that is none", { pattern: "(" }],
  ["names by regular expressions", { patternProperties: { "^(a+)+$": {} } }],
  ["a reference that leads nowhere", { $ref: "#/$defs/none" }],
  ["a reference that leads around in a circle", { anyOf: [{ $ref: "#/properties/text" }] }],
])("a server's schema with %s is checked beside it", (_, text) => {
  const schema = { type: "object", properties: { text, size: { type: "number" } }, required: ["size"] };
  const input = { text: `${"a".repeat(40)}!` };
  expect(faultOf(schema, { ...input, size: 1 })).toBeNull();
  expect(faultOf(schema, { ...input, size: "1" })).toContain("wrong at size");
  expect(faultOf(schema, input)).toContain("size");
});

test("arguments that would take minutes to check are refused, also for a unique list", () => {
  const unique = { type: "object", properties: { ids: { type: "array", uniqueItems: true } } };
  const numbers = (length: number) => ({ ids: Array.from({ length }, (_, at) => at) });
  expect(faultOf(unique, numbers(1_000))).toBeNull();
  expect(faultOf(unique, { ids: [1, 2, 1] })).toContain("Duplicate items");
  expect(faultOf(unique, numbers(20_000))).toContain("too many values");
  expect(faultOf({ type: "object" }, { deep: JSON.parse(`${"[".repeat(30_000)}${"]".repeat(30_000)}`) })).toBeNull();
  const many = { type: "object", properties: { ids: { items: { allOf: Array.from({ length: 3_000 }, () => ({})) } } } };
  expect(faultOf(many, numbers(20_000))).toContain("too many values");
});

test("properties that are named like keywords are checked as properties", () => {
  const schema = { type: "object", properties: { pattern: { type: "string" }, $ref: { type: "number" } } };
  expect(faultOf(schema, { pattern: 1 })).toContain("wrong at pattern");
  expect(faultOf(schema, { $ref: "x" })).toContain("wrong at $ref");
});
