import { expect, test } from "bun:test";
import { isFound, secretsOf } from "./imported.ts";

const TOOL = {
  name: "get_order",
  description: "Reads an order.",
  type: "http",
  method: "GET",
  url: "https://shop.example/orders/{id}",
  headers: { Accept: "application/json", "X-Key": { secret: "shop_key" } },
  auth: { type: "basic", username: "me", secret: "shop_password" },
  parameters: [{ name: "key", in: "query", required: true, secret: "shop_key" }],
} as never;

test("the secrets that an imported tool needs are those of its authentication, headers and parameters, each once", () => {
  expect(secretsOf(TOOL)).toEqual(["shop_password", "shop_key"]);
});

test("an imported tool is found by words of its name, description, method and address, in any case", () => {
  expect(isFound(TOOL, "READS get /orders")).toBeTrue();
  expect(isFound(TOOL, "reads post")).toBeFalse();
});
