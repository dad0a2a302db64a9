import { expect, test } from "bun:test";
import { defineTest } from "./define.ts";
import { passKey, runStatus, testPassed } from "./score.ts";

test("a test passes once enough attempts have, and fails once they cannot", () => {
  const needed = 2;
  expect([testPassed(needed, 2, 1), testPassed(needed, 1, 1), testPassed(needed, 1, 0)]).toEqual([true, null, false]);
});

test("a run passes if every test did, and is an error if one did not pass because a conversation could not be held", () => {
  const [passed, failed, broken] = [
    { passed: true, errors: 1 },
    { passed: false, errors: 0 },
    { passed: false, errors: 1 },
  ];
  expect([[passed], [passed, failed], [failed, broken]].map(runStatus)).toEqual(["PASSED", "FAILED", "ERROR"]);
});

test("a pass is good for the same version, test and judge, in whatever order their fields are written", () => {
  const variables = { first: 1, second: { a: 1, b: 2 } };
  const test = defineTest({ messages: ["Hello"], variables, assertions: [{ type: "contains", value: "hello" }] });
  const key = passKey("version", test);
  expect(passKey("version", { ...test, variables: { second: { b: 2, a: 1 }, first: 1 } })).toBe(key);
  const judge = { type: "judge" as const, criterion: "It greets", model: null };
  const [own, other] = [null, { provider_name: "OPENAI", model_name: "gpt-4.1" }].map((model) =>
    passKey("version", { ...test, assertions: [{ ...judge, model }] }),
  );
  expect(new Set([key, own, other, passKey("another", test)]).size).toBe(4);
});
