import { afterAll, describe, expect, test } from "bun:test";
import { CallingType, ConversationType, Outcome, Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  CompleteConversationRequest,
  ConversationServiceService,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { createClient } from "@parley/shared/rpc/client";
import postgres from "postgres";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";

const TIME = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
const NUMBERS = { toMobileNumber: "+14155550123", fromMobileNumber: "+919876543210" };

const stack = await sharedStack();
const [{ ownerId, apiKey }] = stack.owners;
const api = stack.api(apiKey);
const runtime = createClient(ConversationServiceService, {
  peer: "conversation",
  address: stack.address("conversation"),
});
const agentId = await createAgent(api, { baseUrl: "http://127.0.0.1:1/v1" });
const start = async (given: object) => {
  const key = { ownerId, conversationId: newUuid() };
  await runtime.startConversation(StartConversationRequest.fromPartial({ ...key, agentId, ...given }));
  return key;
};
afterAll(async () => {
  runtime.close();
  await stack.stop();
});

async function show({ conversationId }: { conversationId: string }) {
  return (await api.get(`/conversations/${conversationId}`)).body;
}

async function listed(query: string): Promise<string[]> {
  const { body } = await api.get(`/conversations?${query}`);
  return body.data.map((conversation: { conversation_id: string }) => conversation.conversation_id);
}

describe("a conversation that a voice runtime reported", () => {
  test("by telephone is shown with its numbers, recording and duration, and found by them", async () => {
    const call = await start({
      type: ConversationType.CONVERSATION_TYPE_TELEPHONY,
      callingType: CallingType.CALLING_TYPE_OUTBOUND,
      telephonyProvider: "PLIVO",
      dynamicVariables: { name: "Zoë" },
      ...NUMBERS,
    });
    expect(await show(call)).toMatchObject({ conversation_status: "IN_PROGRESS", conversation_transcript: null });
    const said = {
      role: Role.ROLE_USER,
      content: "Hello from the phone",
      timestamp: undefined,
      latency: undefined,
      startedAt: undefined,
      delivery: undefined,
      toolCalls: [],
    };
    await runtime.appendTranscript(
      (async function* () {
        yield { ...call, sequence: 1, message: said };
      })(),
    );
    const end = { outcome: Outcome.OUTCOME_NO_ANSWER, durationSeconds: 3.5, recordingUrl: "https://r.example/1" };
    await runtime.completeConversation(CompleteConversationRequest.fromPartial({ ...call, ...end }));
    expect(await show(call)).toMatchObject({
      conversation_type: "TELEPHONY",
      conversation_status: "DISCONNECTED",
      calling_type: "OUTBOUND",
      mobile_number: NUMBERS.toMobileNumber,
      duration: 3.5,
      created_by: null,
      conversation_transcript: [{ role: "user", content: "Hello from the phone", timestamp: TIME }],
      conversation_metadata: {
        to_mobile_number: NUMBERS.toMobileNumber,
        from_mobile_number: NUMBERS.fromMobileNumber,
        calling_type: "OUTBOUND",
        telephony_provider: "PLIVO",
        conversation_recording_url: "https://r.example/1",
        conversation_duration: 3.5,
        dynamic_variables: { name: "Zoë" },
      },
    });
    for (const query of [
      "conversation_type=TELEPHONY",
      "calling_type=OUTBOUND",
      "search=the%20phone",
      "search=9876543",
    ])
      expect(await listed(query)).toContain(call.conversationId);
    expect(await listed("calling_type=INBOUND")).toEqual([]);
    const session = await api.get(`/chat/sessions/${call.conversationId}`);
    expect([session.status, session.body.detail]).toEqual([400, "Session is not a chat session"]);
  });

  test("by inbound call is named after the caller, or the called number when that is withheld", async () => {
    const { fromMobileNumber, toMobileNumber } = NUMBERS;
    const inbound = {
      type: ConversationType.CONVERSATION_TYPE_TELEPHONY,
      callingType: CallingType.CALLING_TYPE_INBOUND,
      toMobileNumber,
    };
    const calls = [await start({ ...inbound, fromMobileNumber }), await start(inbound)];
    const shown = await Promise.all(calls.map(show));
    expect(shown.map(({ mobile_number }) => mobile_number)).toEqual([fromMobileNumber, toMobileNumber]);
    expect((await listed("calling_type=INBOUND")).sort()).toEqual(calls.map((call) => call.conversationId).sort());
  });

  test("in WhatsApp, in a Daily room and on the web has the metadata of its type", async () => {
    const thread = await start({ type: ConversationType.CONVERSATION_TYPE_WHATSAPP, ...NUMBERS });
    const { fromMobileNumber, toMobileNumber } = NUMBERS;
    expect((await show(thread)).conversation_metadata).toEqual({
      from_mobile_number: fromMobileNumber,
      to_mobile_number: toMobileNumber,
      last_activity: TIME,
    });
    const room = { roomUrl: "https://x.daily.co/r", roomName: "r" };
    const visit = await start({ type: ConversationType.CONVERSATION_TYPE_DAILY, ...room });
    expect((await show(visit)).conversation_metadata).toEqual({
      room_url: room.roomUrl,
      room_name: room.roomName,
      conversation_duration: null,
    });
    const call = await start({ type: ConversationType.CONVERSATION_TYPE_WEB, dynamicVariables: { name: "Zoë" } });
    expect((await show(call)).conversation_metadata).toEqual({
      conversation_recording_url: null,
      conversation_duration: null,
      dynamic_variables: { name: "Zoë" },
    });
    expect(await listed("conversation_type=WEB")).toEqual([call.conversationId]);
    expect(await listed("conversation_type=WHATSAPP")).toEqual([thread.conversationId]);
    expect(await listed("conversation_type=DAILY")).toEqual([visit.conversationId]);
  });
});

test("a shorter retention hides older conversations at once, over HTTP too", async () => {
  const [{ ownerId }] = stack.owners;
  const visit = await start({ type: ConversationType.CONVERSATION_TYPE_DAILY, roomUrl: "https://x.daily.co/old" });
  const sql = postgres(stack.databaseUrls.conversation, { max: 1 });
  await sql`
    update conversations set created_at = now() - interval '31 days' where conversation_id = ${visit.conversationId}`;
  await sql.end();
  expect(await listed(`conversation_id=${visit.conversationId}`)).toHaveLength(1);
  await stack.accounts.updateSettings({ ownerId, retentionDays: 30 });
  expect(await listed(`conversation_id=${visit.conversationId}`)).toHaveLength(0);
  const { status, body } = await api.get(`/conversations/${visit.conversationId}`);
  expect([status, body.detail]).toEqual([404, "Conversation not found"]);
});
