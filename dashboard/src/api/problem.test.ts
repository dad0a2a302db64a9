import { expect, test } from "bun:test";
import { messageAt, Problem, sentenceBeside } from "./problem.ts";

const refused = (...paths: string[]) => new Problem(422, "Refused", new Map(paths.map((path) => [path, "is wrong"])));
test.each([
  ["no failure", null, null],
  ["a failure without fields", refused(), "Refused"],
  ["fields of the form alone", refused("name"), null],
  ["a field that the form does not show", refused("dynamic_variables.name"), "Refused"],
  ["both", refused("name", "metadata"), "Refused"],
  ["the first wrong item of a list of the form", refused("url.1"), null],
  ["several wrong items, of which the form shows the first", refused("url.1", "url.3"), "Refused"],
  ["anything else that was thrown", new Error("Broken"), "Broken"],
])("a form that shows errors at its fields says beside them what they leave out: %s", (_, error, said) => {
  expect(sentenceBeside(error, ["name", "url"])).toBe(said);
});

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
