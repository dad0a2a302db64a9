import { expect, test } from "bun:test";
import type { RunStatus } from "@parley/shared/domain/tests";
import { defineTest } from "./define.ts";
import { passKey, runStatus, scoreTest } from "./score.ts";

test.each<[number, RunStatus[], boolean | null, RunStatus]>([
  [2, ["QUEUED", "QUEUED"], null, "QUEUED"],
  [2, ["PASSED", "QUEUED"], null, "RUNNING"],
  [1, ["FAILED", "PASSED", "QUEUED"], true, "PASSED"],
  [2, ["ERROR", "FAILED"], false, "FAILED"],
  [2, ["ERROR", "PASSED"], false, "ERROR"],
  // By the run's cap, or by a person.
  [2, ["PASSED", "CANCELLED"], false, "CANCELLED"],
])(
  "a test that needs %p of the attempts %j has passed: %p, and has the status %s",
  (needed, attempts, passed, status) => {
    const passes = attempts.filter((each) => each === "PASSED").length;
    expect(scoreTest(needed, attempts)).toEqual({ passes, passed, status });
  },
);

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
