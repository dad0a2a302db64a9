import { expect, test } from "bun:test";
import { schemaOfSimple, simpleSchemaOf } from "./simple-schema.ts";

test.each([
  [{ type: "string" }],
  [{ type: "string", description: "Number of the order." }],
  [{ type: "string", enum: ["small", "large"] }],
  [{ type: "integer", description: "How many." }],
  [{ type: "array", items: { type: "string", enum: ["a", "b"] } }],
  [{ type: "array", description: "Sizes.", items: { type: "number" } }],
])("the form shows %j and gives it back as it was", (schema) => {
  const simple = simpleSchemaOf(schema);
  expect(simple && schemaOfSimple(simple)).toEqual(schema);
});

test.each([
  [{ type: "string", format: "date" }],
  [{ type: "number", enum: [1, 2] }],
  [{ type: "object", properties: {} }],
  [{ type: ["string", "null"] }],
  [{ type: "array", items: { type: "object" } }],
  [{ type: "array", items: { type: "string", description: "One." } }],
  [{ type: "array" }],
  [{ description: "Anything." }],
  [{ anyOf: [] }],
])("%j stays JSON, because the form cannot show all of it", (schema) => {
  expect(simpleSchemaOf(schema)).toBeNull();
});
