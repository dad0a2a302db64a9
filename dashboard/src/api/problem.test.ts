import { expect, test } from "bun:test";
import { Problem, sentenceBeside } from "./problem.ts";

const refused = (...paths: string[]) => new Problem(422, "Refused", new Map(paths.map((path) => [path, "is wrong"])));

test.each([
  ["no failure", null, null],
  ["a failure without fields", refused(), "Refused"],
  ["fields of the form alone", refused("name"), null],
  ["a field that the form does not show", refused("dynamic_variables.name"), "Refused"],
  ["both", refused("name", "metadata"), "Refused"],
  ["anything else that was thrown", new Error("Broken"), "Broken"],
])("a form that shows errors at its fields says beside them what they leave out: %s", (_, error, said) => {
  expect(sentenceBeside(error, ["name", "url"])).toBe(said);
});
