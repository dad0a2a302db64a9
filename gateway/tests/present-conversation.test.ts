import { expect, test } from "bun:test";
import { Conversation, ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { presentConversation } from "@parley/shared/domain/present/conversation";

const RECORDING = "https://parley.example/v1/public/conversations/0198c1f0-5a7b-7cc3-9c39-2f1d6f0a1b2c/recording";

test("a recorded conversation in a Daily room shows where its recording is, another one does not", () => {
  const type = ConversationType.CONVERSATION_TYPE_DAILY;
  const metadataOf = (recordingUrl?: string) =>
    presentConversation(Conversation.fromPartial({ type, roomUrl: "https://x.daily.co/r", recordingUrl }))
      .conversation_metadata;
  const room = { room_url: "https://x.daily.co/r", room_name: null, conversation_duration: null };
  expect(metadataOf()).toEqual(room);
  expect(metadataOf(RECORDING)).toEqual({ ...room, conversation_recording_url: RECORDING });
});
