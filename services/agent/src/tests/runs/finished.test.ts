import { expect, test } from "bun:test";
import { Conversation, Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { finishedOf } from "./finished.ts";

const [USER, AGENT] = [Role.ROLE_USER, Role.ROLE_ASSISTANT];
const conversationOf = (given: object) => finishedOf(Conversation.fromPartial(given as never));

test("each message of the user begins a turn, with the replies, tools, documents and agents that follow, and the greeting has none", () => {
  const knowledge = { sources: [{ documentId: "doc_1", name: "Prices" }] };
  const toolCalls = [{ name: "look_up", arguments: '{"id":"A-1"}', result: "found", isError: false }];
  const messages = [
    { role: AGENT, content: "Welcome." },
    { role: USER, content: "What does it cost?" },
    { role: AGENT, content: "One moment.", toolCalls, reply: { firstWordMs: 300 } },
    { role: AGENT, content: "Forty euros.", knowledge, reply: { firstWordMs: 900 } },
    { role: USER, content: "Accounting, please." },
    { role: AGENT, content: "Accounting here.", latency: { audibleMs: 700 }, reply: { firstWordMs: 200 } },
  ];
  const agentPath = [
    { agentId: "agt_desk", fromSeq: 1 },
    { agentId: "agt_accounting", fromSeq: 6 },
  ];
  const { greeting, turns } = conversationOf({ transcript: { messages }, agentPath });
  expect(greeting).toBe("Welcome.");
  expect(turns).toEqual([
    {
      user: "What does it cost?",
      agent: "One moment.\nForty euros.",
      toolCalls: [{ name: "look_up", arguments: { id: "A-1" }, result: "found", isError: false }],
      handedOffTo: [],
      latencyMs: 300,
      sources: [{ documentId: "doc_1", name: "Prices" }],
    },
    {
      ...{ user: "Accounting, please.", agent: "Accounting here.", toolCalls: [], sources: [] },
      ...{ handedOffTo: ["agt_accounting"], latencyMs: 700 },
    },
  ]);
});

test("an agent that took over and has not said a word took over in the last turn", () => {
  const agentPath = [
    { agentId: "agt_desk", fromSeq: 1 },
    { agentId: "agt_accounting", fromSeq: 3 },
  ];
  const messages = [
    { role: USER, content: "Accounting, please." },
    { role: AGENT, content: "I connect you." },
  ];
  expect(conversationOf({ transcript: { messages }, agentPath }).turns).toMatchObject([
    { handedOffTo: ["agt_accounting"] },
  ]);
});

test("an analysis has the fields with a value, and a conversation that nobody ended was ended by the system", () => {
  const items = [
    { name: "mood", value: "good" },
    { name: "order", value: null, error: "no text" },
  ];
  expect(conversationOf({ analysis: { items } })).toMatchObject({ analysis: { mood: "good" }, endedBy: "system" });
});
