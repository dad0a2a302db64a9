import { expect, test } from "bun:test";
import { ToolParameter } from "@parley/proto/parley/agent/v1/tool.ts";
import { refusedArgument } from "./custom-tool.ts";

const IDS = [ToolParameter.fromPartial({ name: "id", allowedFrom: "order_ids" })];

test.each([
  ["is empty", { order_ids: [] }],
  ["has no value", {}],
  ["is no list", { order_ids: "7" }],
])("a model may give nothing, not even an empty list, while the list of allowed values %s", (_, variables) => {
  for (const id of ["7", 7, [], [[]], null])
    expect(refusedArgument(IDS, { id }, variables)).toBe(
      '"id" has no allowed values in this conversation. Nothing was called.',
    );
  expect(refusedArgument(IDS, {}, variables)).toBeNull();
});

test("a model may give members of the list of allowed values, and nothing else", () => {
  const variables = { order_ids: ["7", 8] };
  for (const id of ["7", 7, ["7", "8"], []]) expect(refusedArgument(IDS, { id }, variables)).toBeNull();
  for (const id of ["9", ["7", "9"], null, {}])
    expect(refusedArgument(IDS, { id }, variables)).toContain("one of 7, 8");
});
