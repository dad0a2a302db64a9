import { describe, expect, test } from "bun:test";
import { type Assertion, TEST_LIMITS } from "@parley/shared/domain/tests";
import { ServiceError } from "@parley/shared/errors";
import { defineTest, type GivenTest } from "./define.ts";

const contains: Assertion = { type: "contains", value: "shipped" };
const script: GivenTest = { messages: ["Where is my order?"], assertions: [contains] };

function refusal(given: GivenTest): string | undefined {
  try {
    defineTest(given);
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    expect(error.kind).toBe("invalid");
    return error.violations[0]?.path;
  }
}

test("a test has every default filled in", () => {
  expect(defineTest(script)).toEqual({
    kind: "scripted",
    channel: "text",
    repeat: 1,
    pass_at_least: 1,
    messages: ["Where is my order?"],
    persona: null,
    goal: null,
    first_message: null,
    turns_max: null,
    model: null,
    variables: {},
    tool_mocks: [],
    unmocked: "error",
    assertions: [contains],
  });
  const simulated: GivenTest = { kind: "simulated", persona: "In a hurry", goal: "Learn it", assertions: [contains] };
  expect(defineTest(simulated)).toMatchObject({ turns_max: 10, messages: [] });
  expect(defineTest({ ...script, repeat: 5 }).pass_at_least).toBe(5);
});

describe("a test is refused, and the field named,", () => {
  const asserting = (assertion: Assertion): GivenTest => ({ ...script, assertions: [assertion] });
  const cases: [string, GivenTest, string][] = [
    ["without what the user says", { assertions: [contains] }, "messages"],
    ["without an assertion", { messages: ["Hello"] }, "assertions"],
    ["with a persona for a script", { ...script, persona: "In a hurry" }, "persona"],
    ["with a script for a persona", { ...script, kind: "simulated", persona: "A", goal: "B" }, "messages"],
    ["without the goal of a persona", { kind: "simulated", persona: "A", assertions: [contains] }, "goal"],
    ["that must pass more often than it runs", { ...script, repeat: 2, pass_at_least: 3 }, "pass_at_least"],
    ["with noise in a chat", { ...script, messages: [{ text: "Hello", noise: "cafe" }] }, "messages.0.noise"],
    [
      "with a line without words and keys",
      { ...script, channel: "voice", messages: [{ text: " " }] },
      "messages.0.text",
    ],
    ["with keys alone in a chat", { ...script, messages: [{ dtmf: "12#" }] }, "messages.0.dtmf"],
    ["with a line too long to speak", { ...script, channel: "voice", messages: ["x".repeat(1_001)] }, "messages.0"],
    ["with a mock without an answer", { ...script, tool_mocks: [{ tool: "look_up" }] }, "tool_mocks.0"],
    ["with a mock of two answers", { ...script, tool_mocks: [{ tool: "a", result: 1, error: "b" }] }, "tool_mocks.0"],
    ["with an assertion that lacks its field", asserting({ type: "contains" }), "assertions.0.value"],
    ["with an assertion that has another's field", asserting({ ...contains, max: 3 }), "assertions.0.max"],
    ["with a turn after the last one", asserting({ ...contains, turn: 2 }), "assertions.0.turn"],
    [
      "with a turn of an analysis",
      asserting({ type: "analysis", field: "a", equals: 1, turn: 1 }),
      "assertions.0.turn",
    ],
    ["with a look-ahead, which RE2 refuses", asserting({ type: "matches", value: "a(?=b)" }), "assertions.0.value"],
    ["with a back reference, which RE2 refuses", asserting({ type: "matches", value: "(a)\\1" }), "assertions.0.value"],
    ["with an expression that is long", asserting({ type: "matches", value: "a".repeat(501) }), "assertions.0.value"],
    ["with one that grows large", asserting({ type: "matches", value: "(?:x?){900}y" }), "assertions.0.value"],
    ["with an unknown end", asserting({ type: "ended_by", value: "nobody" }), "assertions.0.value"],
    ["with a language that is no tag", asserting({ type: "language", value: "German" }), "assertions.0.value"],
    ["that is too long", { ...script, variables: { long: "x".repeat(TEST_LIMITS.bytes) } }, ""],
  ];
  test.each(cases)("%s", (_, given, path) => {
    expect(refusal(given)).toBe(path);
  });
});

test("a line of a call may be keys alone", () => {
  const call: GivenTest = { ...script, channel: "voice", messages: [{ dtmf: "1" }, { text: "", dtmf: "2#" }] };
  expect(defineTest(call).messages).toEqual([
    { text: "", dtmf: "1" },
    { text: "", dtmf: "2#" },
  ]);
});

test("an analysis may be expected to be null", () => {
  const assertions: Assertion[] = [{ type: "analysis", field: "order_id", equals: null }];
  expect(defineTest({ ...script, assertions }).assertions).toEqual(assertions);
});
