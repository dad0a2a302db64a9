import { expect, spyOn, test } from "bun:test";
import { PAYLOAD_BYTES_MAX } from "../store/events/payload-bounds.ts";
import type { PayloadMessage, PayloadSource } from "../store/events/payload-sources.ts";
import { endPayload } from "./payload.ts";

const NOW = new Date("2026-01-01T12:00:00Z");
const CHAT: PayloadSource = {
  ownerId: "own_1",
  conversationId: "018f3a5e-7b2c-7def-8123-456789abcdef",
  id: "cnv_1",
  agentId: "agt_1",
  agentVersion: 3,
  agentPath: null,
  type: "CHAT",
  status: "COMPLETED",
  callingType: null,
  notes: null,
  analysis: null,
  variables: null,
  hasToolCalls: false,
  isAnalysisTruncated: false,
  toMobileNumber: null,
  fromMobileNumber: null,
  telephonyProvider: null,
  recordingUrl: null,
  durationSeconds: null,
  isTestCall: false,
  scheduledCall: null,
  messages: [],
  isTranscriptTruncated: false,
};

test("missing fields are left out, but transcript and analysis are always arrays", () => {
  expect(JSON.parse(endPayload("conversation.completed", CHAT))).toEqual({
    event: "conversation.completed",
    id: "cnv_1",
    conversation_id: CHAT.conversationId,
    agent_id: "agt_1",
    agent_version: 3,
    last_agent_id: "agt_1",
    conversation_type: "CHAT",
    conversation_status: "COMPLETED",
    notes: null,
    is_test_call: false,
    conversation_transcript: [],
    conversation_analysis: [],
  });
});

test("a call's payload has every documented field, in its documented form", () => {
  const call: PayloadSource = {
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
    messages: [{ seq: 1, role: "user", content: "Hi ☎", createdAt: NOW }],
  };
  expect(JSON.parse(endPayload("conversation.failed", call))).toEqual({
    event: "conversation.failed",
    id: "cnv_1",
    conversation_id: CHAT.conversationId,
    agent_id: "agt_1",
    agent_version: 3,
    last_agent_id: "agt_1",
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

const said = (content: string): PayloadMessage => ({ seq: 1, role: "assistant", content, createdAt: NOW });

test.each([
  ["ASCII", "x"],
  ["control characters", "\u0001"],
  ["quotes", '"'],
  ["three bytes each", "語"],
  ["four bytes each", "🎉"],
])("a payload with too many messages, %s, keeps as many of the newest as fit, and says so", (_, character) => {
  const messages = Array.from({ length: 400 }, (_, at) => said(`${at} ${character.repeat(20_000)}`));
  const payload = endPayload("conversation.completed", { ...CHAT, messages });
  const { conversation_transcript: kept, conversation_transcript_truncated: isTruncated } = JSON.parse(payload);
  const contents = kept.map(({ content }: PayloadMessage) => content);
  expect(contents).toEqual(messages.slice(-contents.length).map(({ content }) => content));
  expect(isTruncated).toBeTrue();
  const bytes = Buffer.byteLength(payload);
  const next = Buffer.byteLength(JSON.stringify(messages[399 - contents.length]));
  expect(bytes).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX);
  expect(bytes + next).toBeGreaterThan(PAYLOAD_BYTES_MAX);
});

test("a payload whose source was truncated says so", () => {
  const source = { ...CHAT, messages: [said("Bye")], isTranscriptTruncated: true, isAnalysisTruncated: true };
  expect(JSON.parse(endPayload("conversation.completed", source))).toMatchObject({
    conversation_transcript: [{ content: "Bye" }],
    conversation_transcript_truncated: true,
    conversation_analysis_truncated: true,
  });
});

test("a transcript that is too long as JSON is cut without making all of it JSON", () => {
  const messages = Array.from({ length: 10 }, () => said("\u0001".repeat(100_000)));
  using stringify = spyOn(JSON, "stringify");
  const payload = endPayload("conversation.completed", { ...CHAT, messages });
  const made = stringify.mock.results.map(({ value }) => (value as string).length);
  expect(Math.max(...made)).toBeLessThanOrEqual(PAYLOAD_BYTES_MAX);
  expect(made.reduce((sum, each) => sum + each, 0)).toBeLessThan(5 * PAYLOAD_BYTES_MAX);
  expect(JSON.parse(payload).conversation_transcript).toHaveLength(1);
});
