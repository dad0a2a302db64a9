import { expect, test } from "bun:test";
import { changesOf } from "../../../ui/editor/changes.ts";
import { bodyOf, formOf, NEW_PARAMETER, namesInPath, newForm } from "./form.ts";

const AT = "2026-01-31T09:30:00.000Z";
const TOOL = {
  id: "tol_1",
  name: "look_up_order",
  description: "Looks up an order.",
  type: "http",
  method: "GET",
  url: "https://shop.example/orders/{order_id}",
  headers: { Accept: "application/json", "X-Key": { secret: "shop_key" } },
  auth: { type: "bearer", secret: "shop_key" },
  parameters: [
    { name: "order_id", in: "path", required: true, schema: { type: "string" }, allowed_from: "orders" },
    { name: "customer", in: "query", required: true, variable: "customer_id" },
    { name: "limit", in: "query", required: false, constant: 5 },
    { name: "code", in: "query", required: false, constant: "5" },
    { name: "none", in: "query", required: false, constant: null },
    { name: "key", in: "header", required: true, secret: "shop_key" },
  ],
  retries: 2,
  idempotent: false,
  result: { keep: ["/status"], hide: false },
  assignments: [{ variable: "order_status", pointer: "/status" }],
  timeout_ms: 20_000,
  speech: { before: "auto", delayed: [] },
  interruption: "continue",
  run: "wait",
  created_at: AT,
  updated_at: AT,
  created_by: null,
} as const;

test("a tool that is opened and not changed has nothing to save", () => {
  const { body, faults } = bodyOf(formOf(TOOL as never));
  const { id: _, type, created_at, updated_at, created_by, ...fields } = TOOL;
  expect(body).toEqual(fields as never);
  expect(faults.size).toBe(0);
  expect(changesOf(body, bodyOf(formOf(TOOL as never)).body)).toEqual({});
});

test("only the fields that were changed are sent, and null clears one", () => {
  const before = bodyOf(formOf(TOOL as never)).body;
  const form = formOf(TOOL as never);
  const after = bodyOf({ ...form, timeout_ms: 5_000, auth: null, headers: [] }).body;
  expect(changesOf(before, after)).toEqual({ timeout_ms: 5_000, auth: null, headers: {} });
});

test("an entry that cannot be sent is told at the path of its field", () => {
  const headers = [
    { name: "", value: "a" },
    { name: "X-Key", value: "b" },
    { name: "X-Key", value: "c" },
  ];
  const parameters = [NEW_PARAMETER, { ...NEW_PARAMETER, name: "size", schema: "[1]" }];
  const { faults } = bodyOf({ ...newForm("http"), headers, parameters });
  expect([...faults.keys()]).toEqual(["headers.0", "headers.2", "parameters.1.schema"]);
});

test("a client tool is sent without the fields of the other types", () => {
  expect(bodyOf({ ...newForm("client"), name: " show_map " }).body).toEqual({
    name: "show_map",
    description: "",
    wait: true,
    parameters: [],
  });
});

test("the parameters that an address names are found, and variables are none of them", () => {
  expect(namesInPath("https://a.example/{{region}}/orders/{order_id}/items/{ item }?at={order_id}")).toEqual([
    "order_id",
    "item",
  ]);
});
