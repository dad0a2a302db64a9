import { expect, test } from "bun:test";
import { changesOf } from "../../../../ui/editor/changes.ts";
import { ASSERTIONS, assertionRowOf } from "./assertion-rows.ts";
import { bodyOf, formOf, NEW_LINE, NEW_MOCK, NEW_TEST } from "./form.ts";

const AT = "2026-01-31T09:30:00.000Z";
const SCRIPTED = {
  test_id: "tst_1",
  agent_id: "agt_1",
  name: "Looks up an order",
  required: true,
  kind: "scripted",
  channel: "voice",
  repeat: 3,
  pass_at_least: 2,
  messages: [
    "Hello",
    { text: "Where is it?", noise: "cafe", interrupt_at_ms: 0, dtmf: "12#" },
    { text: "", dtmf: "1" },
  ],
  persona: null,
  goal: null,
  first_message: null,
  turns_max: null,
  model: null,
  variables: { name: "Ada", age: 36, code: "36" },
  tool_mocks: [
    { tool: "look_up_order", when: { order_id: "A-1001" }, delay_ms: 200, result: { status: "on its way" } },
    { tool: "look_up_order", result: "gone", recorded: true },
    { tool: "refund", error: "The shop is down" },
  ],
  unmocked: "error",
  assertions: [
    { type: "contains", turn: 1, value: " on its way" },
    { type: "tool_called", tool: "look_up_order", arguments: { order_id: "A-1001" } },
    { type: "handed_off_to", agent_id: "agt_2" },
    { type: "latency_ms", max: 2_500 },
    { type: "source_used", document: "Shipping" },
    { type: "analysis", field: "found", equals: null },
    { type: "judge", criterion: "It is polite.", model: { provider_name: "OPENAI", model_name: "gpt" } },
  ],
  created_at: AT,
  updated_at: AT,
  created_by: null,
} as const;
const SIMULATED = {
  ...SCRIPTED,
  kind: "simulated",
  messages: [],
  persona: "In a hurry.",
  goal: "Learn where it is.",
  first_message: "Hello",
  turns_max: 5,
  model: { provider_name: "OPENAI", model_name: "gpt" },
} as const;

test.each([
  ["scripted", SCRIPTED],
  ["simulated", SIMULATED],
])("a %s test that is opened is sent as it is stored", (_kind, stored) => {
  const { test_id: _, agent_id, created_at, updated_at, created_by, ...definition } = stored;
  const { body, faults } = bodyOf(formOf(stored as never));
  expect(body).toEqual(definition as never);
  expect(faults.size).toBe(0);
  expect(changesOf(body, bodyOf(formOf(stored as never)).body)).toEqual({});
});

test("a test whose user a model plays from now on is sent without the script, which comes back with the kind", () => {
  const form = { ...formOf(SCRIPTED as never), kind: "simulated" as const, persona: "Ada", goal: "Learn it." };
  expect(bodyOf(form).body).toMatchObject({ messages: [], persona: "Ada", goal: "Learn it." });
  expect(bodyOf({ ...form, kind: "scripted" }).body).toMatchObject({ messages: SCRIPTED.messages, persona: null });
});

test("a line needs words in a chat, and words or keys in a call", () => {
  const faultsOf = (channel: "text" | "voice", dtmf: string) =>
    bodyOf({ ...formOf(SCRIPTED as never), channel, messages: [{ ...NEW_LINE, dtmf }] }).faults;
  expect([faultsOf("voice", "1").size, faultsOf("voice", " ").size, faultsOf("text", "1").size]).toEqual([0, 1, 1]);
});

test("what a form still lacks is told at its field before anything is sent", () => {
  const { faults } = bodyOf({
    ...NEW_TEST,
    messages: [NEW_LINE],
    variables: [
      { name: "a", value: "" },
      { name: "a", value: "" },
    ],
    tool_mocks: [
      { ...NEW_MOCK, when: "[1]" },
      { ...NEW_MOCK, tool: "refund", outcome: "error" },
    ],
    assertions: ASSERTIONS.map(({ type }) => assertionRowOf({ type, arguments: {} })).map((row) => ({
      ...row,
      arguments: "no JSON",
    })),
  });
  const needed = ASSERTIONS.flatMap(({ needs }, at) => Object.keys(needs).map((field) => `assertions.${at}.${field}`));
  const called = ASSERTIONS.findIndex(({ type }) => type === "tool_called");
  expect([...faults.keys()].toSorted()).toEqual(
    [
      ...["name", "messages.0", "variables.1", "tool_mocks.0.tool", "tool_mocks.0.when", "tool_mocks.1.error"],
      ...needed,
      `assertions.${called}.arguments`,
    ].toSorted(),
  );
});
