import { describe, expect, test } from "bun:test";
import type { Assertion } from "@parley/shared/domain/tests";
import { newId } from "@parley/shared/ids";
import { detect } from "tinyld/light";
import { assertOn } from "./assert.ts";
import type { FinishedConversation, FinishedTurn } from "./finished.ts";

const ANOTHER = newId("agt");

function turn(given: Partial<FinishedTurn>): FinishedTurn {
  return { user: "", agent: "", toolCalls: [], handedOffTo: [], latencyMs: null, sources: [], ...given };
}

const lookUp = {
  name: "look_up",
  arguments: { order: { id: "A-1", lines: [1, 2] }, verbose: true },
  result: "{}",
  isError: false,
};
const CONVERSATION: FinishedConversation = {
  greeting: "Welcome to Acme.",
  turns: [
    turn({ user: "Hello", agent: "Hello, how can I help you today?", latencyMs: 300 }),
    turn({
      user: "Where is A-1?",
      agent: "Your order has shipped.",
      latencyMs: 900,
      toolCalls: [lookUp],
      handedOffTo: [ANOTHER],
      sources: [{ documentId: "doc_1", name: "Shipping" }],
    }),
  ],
  endedBy: "agent",
  language: null,
  analysis: { resolved: true, topics: ["order"] },
  documentSets: [],
};

describe("an assertion holds, or says what was there instead:", () => {
  const cases: [Assertion, boolean, string][] = [
    [{ type: "equals", value: " Your order has shipped. ", turn: 2 }, true, '"Your order has shipped." is exactly'],
    [{ type: "equals", value: "Shipped", turn: 2 }, false, 'No reply is exactly "Shipped": "Your order has shipped."'],
    [{ type: "contains", value: "SHIPPED" }, true, 'contains "SHIPPED"'],
    [{ type: "contains", value: "welcome" }, true, '"Welcome to Acme."'],
    [{ type: "contains", value: "shipped", turn: 1 }, false, "how can I help you"],
    [{ type: "contains", value: "refund" }, false, 'No reply contains "refund"'],
    [{ type: "not_contains", value: "refund" }, true, 'No reply contains "refund"'],
    [{ type: "not_contains", value: "order" }, false, '"Your order has shipped." contains "order"'],
    [{ type: "matches", value: "(?i)HAS (shipped|left)" }, true, "matches"],
    [{ type: "matches", value: "^has" }, false, "No reply matches ^has"],
    [{ type: "tool_called", tool: "look_up", arguments: { order: { id: "A-1" } } }, true, "look_up was called with"],
    [
      { type: "tool_called", tool: "look_up", arguments: { order: { lines: [1] } } },
      false,
      'not with {"order":{"lines":[1]}}',
    ],
    [{ type: "tool_called", tool: "refund" }, false, "refund was not called; called were look_up"],
    [{ type: "tool_called", tool: "look_up", turn: 1 }, false, "look_up was not called, nor any other tool"],
    [{ type: "tool_not_called", tool: "refund" }, true, "refund was not called"],
    [{ type: "tool_not_called", tool: "look_up" }, false, '"id":"A-1"'],
    [{ type: "handed_off_to", agent_id: ANOTHER }, true, `${ANOTHER} took over`],
    [{ type: "handed_off_to", agent_id: ANOTHER, turn: 1 }, false, "No agent took over"],
    [{ type: "handed_off_to", agent_id: "agt_other" }, false, `${ANOTHER} took over, not agt_other`],
    [{ type: "ended_by", value: "agent" }, true, "The agent ended the conversation"],
    [{ type: "ended_by", value: "user" }, false, "The agent ended the conversation, not the user"],
    [{ type: "language", value: "en-US" }, true, "The agent spoke en"],
    [{ type: "language", value: "de" }, false, "The agent spoke en, not de"],
    [{ type: "latency_ms", max: 900 }, true, "900 ms"],
    [{ type: "latency_ms", max: 500 }, false, "The slowest reply took 900 ms, more than 500 ms"],
    [{ type: "latency_ms", max: 500, turn: 1 }, true, "300 ms"],
    [{ type: "source_used", document: "Shipping" }, true, "Shipping was used"],
    [{ type: "source_used", document: "doc_1", turn: 2 }, true, "doc_1 was used"],
    [{ type: "source_used", document: "Returns" }, false, "Shipping was used, not Returns"],
    [{ type: "analysis", field: "resolved", equals: true }, true, "resolved is true"],
    [{ type: "analysis", field: "topics", equals: ["order", "refund"] }, false, '["order"], not ["order","refund"]'],
    [{ type: "analysis", field: "mood", equals: "good" }, false, "The analysis has no value for mood"],
    [{ type: "contains", value: "x", turn: 3 }, false, "There is no turn 3: the conversation had 2 turns"],
  ];
  test.each(cases)("%o: %p", (assertion, passed, reason) => {
    const result = assertOn(assertion, CONVERSATION, detect);
    expect([result.passed, result.reason]).toEqual([passed, expect.stringContaining(reason)]);
    expect([result.type, result.turn]).toEqual([assertion.type, assertion.turn ?? undefined]);
  });
});

test("a reply that is too short to tell its language counts as being of the one that the conversation was set to", () => {
  const said = (agent: string, language: string | null) => ({
    ...CONVERSATION,
    greeting: "",
    turns: [turn({ agent })],
    language,
  });
  expect(assertOn({ type: "language", value: "fr" }, said("OK!", "fr-CA"), detect).passed).toBe(true);
  expect(
    assertOn({ type: "language", value: "fr" }, said("Your order has shipped today.", "fr-CA"), detect).passed,
  ).toBe(false);
});

test("an expression that would take exponential time elsewhere is matched at once", () => {
  const conversation = { ...CONVERSATION, turns: [turn({ agent: "a".repeat(50_000) })] };
  expect(assertOn({ type: "matches", value: "^(a+)+$!" }, conversation, detect).passed).toBe(false);
});

test("an expression is not searched for in replies whose length makes that slow", () => {
  const replies = (agent: string) => ({ ...CONVERSATION, greeting: "", turns: [turn({ agent })] });
  const complex: Assertion = { type: "matches", value: "(?:(?:x?){400}[y-z]|[0-9])" };
  expect(assertOn(complex, replies("x".repeat(3_000)), detect).reason).toContain("No reply matches");
  expect(assertOn(complex, replies("x".repeat(100_000)), detect)).toMatchObject({
    passed: false,
    reason: expect.stringContaining("too long"),
  });
});
