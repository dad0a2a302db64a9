import {
  CallingType,
  type Conversation,
  ConversationType,
  Outcome,
  Role,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  type AppendTranscriptRequest,
  CompleteConversationRequest,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { serviceErrorOf } from "@parley/testkit/failures";
import { type ChatClient, line, type TestAgent } from "./kit.ts";

export interface CallKey {
  ownerId: string;
  conversationId: string;
}

/** An inbound telephone call, unless it says otherwise. */
export function callOf(agent: TestAgent, given: Partial<StartConversationRequest> = {}): StartConversationRequest {
  return {
    ...StartConversationRequest.fromPartial({
      ...agent,
      conversationId: newUuid(),
      type: ConversationType.CONVERSATION_TYPE_TELEPHONY,
      callingType: CallingType.CALLING_TYPE_INBOUND,
      toMobileNumber: "+14155550123",
      fromMobileNumber: "+919876543210",
      telephonyProvider: "TWILIO",
    }),
    ...given,
  };
}

export async function startCall(chat: ChatClient, agent: TestAgent): Promise<CallKey> {
  const request = callOf(agent);
  await chat.startConversation(request);
  return { ownerId: agent.ownerId, conversationId: request.conversationId };
}

/** Message number `sequence`; odd ones are the user's. */
export function said(
  key: CallKey,
  sequence: number,
  content = `Message ${sequence}`,
  timestamp?: Date,
): AppendTranscriptRequest {
  const role = sequence % 2 === 1 ? Role.ROLE_USER : Role.ROLE_ASSISTANT;
  return {
    ...key,
    sequence,
    message: { role, content, timestamp, latency: undefined, startedAt: undefined, delivery: undefined, toolCalls: [] },
  };
}

/** One stream with these messages. */
export async function append(chat: ChatClient, messages: readonly AppendTranscriptRequest[]): Promise<number> {
  const stream = async function* () {
    yield* messages;
  };
  return (await chat.appendTranscript(stream())).lastSequence;
}

export function complete(chat: ChatClient, key: CallKey, given: Partial<CompleteConversationRequest> = {}) {
  return chat.completeConversation({
    ...CompleteConversationRequest.fromPartial({ ...key, outcome: Outcome.OUTCOME_SUCCESS }),
    ...given,
  });
}

export async function read(chat: ChatClient, key: CallKey): Promise<Conversation> {
  const { conversation } = await chat.getConversation(key);
  if (!conversation) throw new Error("the response is empty");
  return conversation;
}

export async function lines(chat: ChatClient, key: CallKey): Promise<string[]> {
  return (await read(chat, key)).transcript?.messages.map(line) ?? [];
}

/** How a call of a runtime failed. @throws when it did not fail */
export async function refusal(
  call: Promise<unknown>,
): Promise<{ kind: string; detail: string; lastSequence: string | undefined }> {
  const { kind, detail, metadata } = await serviceErrorOf(call);
  return { kind, detail, lastSequence: metadata.last_sequence };
}
