import { expect, test } from "bun:test";
import type { FinishedConversation, FinishedTurn } from "../assertions/finished.ts";
import { compareConversations, haveDocumentsChanged, withGreetingOf } from "./compare.ts";

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
  documentSets: [],
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

test("a replay in which a built-in tool has other words of the model does not differ, but one with another choice does", () => {
  const calling = (name: string, given: object): FinishedConversation => ({
    ...before,
    turns: [{ ...turn, toolCalls: [{ name, arguments: given, result: "", isError: false }] }],
  });
  const compare = (name: string, was: object, is: object) =>
    compareConversations(calling(name, was), calling(name, is)).map(({ what }) => what);
  expect(compare("end_call", { message: "Bye" }, {})).toEqual([]);
  expect(compare("search_knowledge", { query: "Hours" }, { query: "When open?" })).toEqual([]);
  expect(compare("transfer_call", { message: "a", phone_number: "1" }, { phone_number: "2" })).toEqual(["tools"]);
  expect(compare("set_language", { language: "en" }, { language: "es" })).toEqual(["tools"]);
  expect(compare("tell", { message: "a" }, { message: "b" })).toEqual(["tools"]);
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

test("documents have changed if a knowledge base of both had others, and are no difference by themselves", () => {
  const having = (...sets: [base: string, hash: string][]): FinishedConversation => ({
    ...before,
    documentSets: sets.map(([knowledgeBaseId, documentsHash]) => ({ knowledgeBaseId, documentsHash })),
  });
  const was = having(["prices", "1"], ["prices", "1"], ["hours", "1"]);
  expect(haveDocumentsChanged(was, having(["prices", "1"]))).toBeFalse();
  expect(haveDocumentsChanged(was, having(["terms", "2"]))).toBeFalse();
  expect(haveDocumentsChanged(was, having(["hours", "1"], ["prices", "2"]))).toBeTrue();
  expect(haveDocumentsChanged(having(["prices", "1"], ["prices", "2"]), having(["prices", "2"]))).toBeTrue();
  expect(compareConversations(was, having(["prices", "2"]))).toEqual([]);
});
