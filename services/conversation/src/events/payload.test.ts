import { expect, test } from "bun:test";
import type { ConversationRow } from "../store/conversations.ts";
import type { MessageRow } from "../store/messages.ts";
import { eventPayload } from "./payload.ts";

const NOW = new Date("2026-01-01T12:00:00Z");
const CHAT: ConversationRow = {
  ownerId: "own_1",
  conversationId: "018f3a5e-7b2c-7def-8123-456789abcdef",
  id: "cnv_1",
  agentId: "agt_1",
  type: "CHAT",
  status: "COMPLETED",
  callingType: null,
  name: "Hi",
  messageCount: 0,
  metadata: {},
  variables: {},
  notes: null,
  analysis: null,
  createdBy: "own_1",
  toMobileNumber: null,
  fromMobileNumber: null,
  telephonyProvider: null,
  recordingUrl: null,
  durationSeconds: null,
  roomUrl: null,
  roomName: null,
  isTestCall: false,
  turnUntil: null,
  lastActivityAt: NOW,
  createdAt: NOW,
  updatedAt: NOW,
};

test("what is not available is left out, transcript and analysis are arrays all the same", () => {
  expect(JSON.parse(eventPayload("conversation.completed", CHAT, []))).toEqual({
    event: "conversation.completed",
    id: "cnv_1",
    conversation_id: CHAT.conversationId,
    agent_id: "agt_1",
    conversation_type: "CHAT",
    conversation_status: "COMPLETED",
    notes: null,
    is_test_call: false,
    conversation_transcript: [],
    conversation_analysis: [],
  });
});

test("a call's payload has every field of the specification, in its form", () => {
  const call: ConversationRow = {
    ...CHAT,
    type: "TELEPHONY",
    status: "FAILED",
    notes: "Line dropped",
    callingType: "OUTBOUND",
    telephonyProvider: "TWILIO",
    toMobileNumber: "+4915112345678",
    fromMobileNumber: "+4915187654321",
    recordingUrl: "https://recordings.example/1",
    durationSeconds: 0,
    isTestCall: true,
    analysis: [
      { name: "mood", value: "calm", type: "str" },
      { name: "calls", value: null, type: "int", error: "the model left it out" },
    ],
  };
  const said = [{ role: "user", content: "Hi ☎", createdAt: NOW, conversationId: "", seq: 1 }] satisfies MessageRow[];
  expect(JSON.parse(eventPayload("conversation.failed", call, said))).toEqual({
    event: "conversation.failed",
    id: "cnv_1",
    conversation_id: CHAT.conversationId,
    agent_id: "agt_1",
    conversation_type: "TELEPHONY",
    conversation_status: "FAILED",
    notes: "Line dropped",
    conversation_duration: 0,
    conversation_recording_url: "https://recordings.example/1",
    calling_type: "OUTBOUND",
    telephony_provider: "TWILIO",
    to_mobile_number: "+4915112345678",
    from_mobile_number: "+4915187654321",
    is_test_call: true,
    conversation_transcript: [{ role: "user", content: "Hi ☎", timestamp: "2026-01-01T12:00:00.000Z" }],
    conversation_analysis: [
      { name: "mood", value: "calm", type: "str" },
      { name: "calls", value: null, type: "int", error: "the model left it out" },
    ],
  });
});
