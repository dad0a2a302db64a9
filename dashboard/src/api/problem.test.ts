import { expect, test } from "bun:test";
import { messageAt } from "./problem.ts";

test.each([
  ["list", "all of it"],
  ["others", "the second"],
  ["othe", undefined],
  ["nested", undefined],
])("the message at %s is its own, or that of its first wrong item", (path, message) => {
  const fields = new Map([
    ["list.0", "the first"],
    ["list", "all of it"],
    ["others.1", "the second"],
    ["others.2", "the third"],
    ["nested.0.name", "of an item's field"],
  ]);
  expect(messageAt(fields, path)).toBe(message);
});
