import { expect, test } from "bun:test";
import { type CallConversation, followCall } from "./captions.ts";

test("a call's messages are told once they are complete, and its tool calls while they run and when they end", async () => {
  const call = { tool_call_id: "tcl_1", name: "look_up", arguments: '{"order": 7}' };
  const said = (...messages: object[]): CallConversation => ({
    ...{ conversation_id: "c", conversation_status: "IN_PROGRESS" },
    conversation_transcript: messages as never,
  });
  const question = { role: "user", content: "Where is it?" };
  const running = { ...question, tool_calls: [{ ...call, status: "RUNNING", result: "", duration_ms: null }] };
  const ended = [{ ...call, status: "SUCCEEDED", result: "on its way", duration_ms: 120 }];
  const answer = { role: "assistant", content: "It is on its way.", tool_calls: ended };
  const states = [said(running), said(running), { ...said(question, answer), conversation_status: "COMPLETED" }];
  const next = async () => states.shift() ?? null;
  const told: string[] = [];
  await followCall({ newest: next, find: next }, "agt_1", null, async (role, content) => {
    told.push(`${role}: ${content}`);
  }).over();
  expect(told).toEqual([
    'tool: look_up {"order": 7} …',
    'tool: look_up {"order": 7} SUCCEEDED after 120 ms: on its way',
    "user: Where is it?",
    "assistant: It is on its way.",
  ]);
});
