import { expect, test } from "bun:test";
import { argumentsOf, typedArguments, typedVariables, variablesOf } from "./given.ts";

const TOOL = {
  type: "http",
  url: "https://shop.example/{{region | eu}}/orders/{order_id}",
  headers: { "X-Caller": "{{ caller }}", "X-Key": { secret: "key" } },
  parameters: [
    { name: "order_id", in: "path", required: true, schema: { type: "string" }, allowed_from: "orders" },
    { name: "count", in: "query", schema: { type: "integer" } },
    { name: "customer", in: "query", variable: "customer_id" },
    { name: "key", in: "query", secret: "key" },
  ],
} as never;

test("arguments are asked for where the model gives the value, and variables where a conversation does", () => {
  expect(argumentsOf(TOOL, "").map(({ name }) => name)).toEqual(["order_id", "count"]);
  expect(variablesOf(TOOL)).toEqual(["region", "caller", "orders", "customer_id"]);
});

test("the arguments of an MCP tool are those that the chosen tool of the server takes", () => {
  const input_schema = { properties: { a: { type: "number" }, b: { type: "string" } }, required: ["a"] };
  const tool = { type: "mcp", mcp_tools: [{ name: "sum", input_schema }] } as never;
  expect(argumentsOf(tool, "sum").map(({ name, isRequired }) => [name, isRequired])).toEqual([
    ["a", true],
    ["b", false],
  ]);
  expect(argumentsOf(tool, "other")).toEqual([]);
});

test("what is typed becomes a value of its argument's type, and an empty field is left out", () => {
  const of = argumentsOf(TOOL, "");
  expect(typedArguments(of, { order_id: "1001", count: "3" })).toEqual({ order_id: "1001", count: 3 });
  expect(typedArguments(of, { order_id: "", count: "many" })).toEqual({ count: "many" });
});

test("a variable is a text, unless a list or an object is typed", () => {
  expect(typedVariables({ id: "7", orders: '["1001"]', empty: "" })).toEqual({ id: "7", orders: ["1001"] });
});
