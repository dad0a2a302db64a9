import { expect, test } from "bun:test";
import { variablesOf } from "./variables.ts";

test("an owner's many long prompts displace none that are remembered for another owner", () => {
  const remembered = variablesOf("own_a", "Hello {{name}}", null);
  expect(remembered.map(({ variableName }) => variableName)).toEqual(["name"]);
  const long = "x".repeat(500_000);
  for (let at = 0; at < 40; at++) variablesOf("own_b", `${long} {{value_${at}}}`, null);
  expect(variablesOf("own_a", "Hello {{name}}", null)).toBe(remembered);
});

test("an owner's own oldest prompts make room, and are read again", () => {
  const first = variablesOf("own_c", "Hello {{name}}", "Bye {{day}}");
  const long = "x".repeat(500_000);
  for (let at = 0; at < 10; at++) variablesOf("own_c", `${long} {{value_${at}}}`, null);
  const again = variablesOf("own_c", "Hello {{name}}", "Bye {{day}}");
  expect(again).not.toBe(first);
  expect(again).toEqual(first);
});
