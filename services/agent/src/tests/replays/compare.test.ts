import { expect, test } from "bun:test";
import type { FinishedConversation, FinishedTurn } from "../assertions/finished.ts";
import { compareConversations } from "./compare.ts";

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
