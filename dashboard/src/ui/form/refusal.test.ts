import { expect, test } from "bun:test";
import { join } from "node:path";
import { Problem } from "../../api/problem.ts";

// Its types are those of browsers.
const { untold } = await import(join(import.meta.dir, "refusal.tsx"));

const refused = (...messages: string[]) =>
  new Problem(422, messages[0] ?? "Refused", new Map(messages.map((message, at) => [`field_${at}`, message])));
test.each([
  ["no failure", null, []],
  ["a failure without fields", refused(), ["Refused"]],
  ["fields that all tell it", refused("Name is required"), []],
  ["a field that is not on the form", refused("Value is too long"), ["Value is too long"]],
  ["both", refused("Name is required", "Value is too long"), ["Value is too long"]],
  [
    "several fields that are not on the form",
    refused("One is wrong", "Two is wrong"),
    ["One is wrong", "Two is wrong"],
  ],
  [
    "a sum of them",
    new Problem(409, "It is in use", new Map([["name", "Of an agent"]])),
    ["It is in use", "Of an agent"],
  ],
  ["anything else that was thrown", new Error("Broken"), ["Broken"]],
])("a refused form says beside its fields what none of them says: %s", (_, error, said) => {
  const left: { message: string }[] = untold(error, ["Name is required"]);
  expect(left.map(({ message }) => message)).toEqual(said);
});
