import { expect, test } from "bun:test";
import { handedTo, speakersOf } from "./speakers.ts";

const message = (role: "user" | "assistant", ...to: string[]) => ({
  role,
  content: "",
  timestamp: "2026-01-31T09:30:00.000Z",
  tool_calls: to.map((agent) => ({ name: `hand_over_to_${agent}`, status: "SUCCEEDED" as const }) as never),
});
const path = (...agents: string[]) => agents.map((agent_id, at) => ({ agent_id, agent_version: 1, from_seq: at + 1 }));

test("each message begins with the agent that was handed the conversation before it, also if the first ones are left out", () => {
  const messages = [message("user"), message("assistant", "b"), message("user"), message("assistant", "a", "c")];
  const speakers = ["a", "a", "b", "b"];
  const agent_path = path("a", "b", "a", "c");
  expect(speakersOf({ agent_path, conversation_transcript: messages })).toEqual(speakers);
  expect(speakersOf({ agent_path, conversation_transcript: messages.slice(2) })).toEqual(speakers.slice(2));
});

test("the agents before are found also if the first one has taken over again from a deleted one", () => {
  const messages = [message("assistant", "b"), message("user"), message("assistant")];
  const conversation = { agent_path: path("a", "b", "a"), conversation_transcript: messages };
  expect(speakersOf(conversation)).toEqual(["a", "a", "a"]);
});

test("a call that did not hand over is shown like any other tool call", () => {
  expect(handedTo({ name: "hand_over_to_b", status: "FAILED" })).toBeNull();
  expect(handedTo({ name: "book_table", status: "SUCCEEDED" })).toBeNull();
});
