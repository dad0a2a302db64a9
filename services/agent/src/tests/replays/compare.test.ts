import { expect, test } from "bun:test";
import type { FinishedConversation, FinishedTurn } from "../assertions/finished.ts";
import { compareConversations, withGreetingOf } from "./compare.ts";

const turn: FinishedTurn = {
  user: "Where is A-1?",
  agent: "It has shipped.",
  toolCalls: [{ name: "look_up", arguments: { id: "A-1" }, result: "shipped", isError: false }],
  handedOffTo: [],
  latencyMs: 100,
  sources: [],
};
const before: FinishedConversation = {
  greeting: "Hello",
  turns: [turn],
  endedBy: "system",
  language: null,
  analysis: { resolved: true },
};

test("a replay with other words, other latency and another way in which the user left does not differ", () => {
  const after = { ...before, endedBy: "user" as const, turns: [{ ...turn, agent: "Shipped!", latencyMs: 900 }] };
  expect(compareConversations(before, after)).toEqual([]);
});

test("a replay lists tool calls, the outcome and each field of the analysis that differ", () => {
  const after: FinishedConversation = {
    ...before,
    endedBy: "agent",
    turns: [{ ...turn, toolCalls: [] }],
    analysis: { resolved: false, mood: "good" },
  };
  expect(compareConversations(before, after)).toEqual([
    { what: "tools", before: [{ turn: 1, name: "look_up", arguments: { id: "A-1" }, is_error: false }], after: [] },
    {
      what: "outcome",
      before: { ended_by_agent: false, turns: 1, handed_off_to: [] },
      after: { ended_by_agent: true, turns: 1, handed_off_to: [] },
    },
    { what: "analysis", field: "resolved", before: true, after: false },
    { what: "analysis", field: "mood", before: null, after: "good" },
  ]);
});

test("a replay's analysis does not differ where the conversation was not analyzed, and a field without a value is like none", () => {
  const after = { ...before, analysis: { resolved: true } };
  expect(compareConversations({ ...before, analysis: {} }, after)).toEqual([]);
  expect(compareConversations({ ...before, analysis: { resolved: true, order: null } }, after)).toEqual([]);
});

test("a replay's greeting is compared only with a conversation that had one", () => {
  expect(withGreetingOf({ ...before, greeting: "" }, before).greeting).toBe("");
  expect(withGreetingOf(before, { ...before, greeting: "Good day" }).greeting).toBe("Good day");
});
