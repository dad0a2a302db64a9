import type { CompleteConversationRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { CALL_OUTCOMES, CONVERSATION_STATUSES, ENDED_BY, nameOf } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { isLonger } from "@parley/shared/text/length";
import { readCall } from "../calls/read-call.ts";
import { timeOf } from "../calls/transcript.ts";
import { checkUrl } from "../calls/url.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { readConversation } from "../lists/read-conversation.ts";
import { type CallEnd, endCall } from "../store/calls.ts";
import type { ConversationRow } from "../store/conversations.ts";
import type { SessionKey } from "../store/session-key.ts";
import { storable } from "../store/storable.ts";

/** The status that each outcome leads to (docs/voice-runtimes.md#completing). */
const STATUSES: Record<CallEnd["outcome"], CallEnd["status"]> = {
  SUCCESS: "COMPLETED",
  NO_ANSWER: "DISCONNECTED",
  BUSY: "DISCONNECTED",
  CANCELLED: "DISCONNECTED",
  HUNG_UP_EARLY: "DISCONNECTED",
  ERROR: "FAILED",
};
const NOTES_MAX = 10_000;

/** Ends a conversation once; repeating the call returns how it ended and changes nothing. */
export function completeConversation(ctx: ConversationContext): Handler<"completeConversation"> {
  return async (request) => {
    const end = endOf(request);
    const { ownerId, conversationId } = await readEnding(ctx, request);
    const key = { ownerId, conversationId };
    if (await endCall(ctx.db, key, end, ctx.clock.now())) return { status: CONVERSATION_STATUSES[end.status] };
    return { status: CONVERSATION_STATUSES[(await readEnding(ctx, key)).status] };
  };
}

/** A chat is ended by its turns, but one of a test by whoever runs the test. */
async function readEnding(ctx: ConversationContext, key: SessionKey): Promise<ConversationRow> {
  const row = await readConversation(ctx, key, "Conversation");
  return row.testRunId === null ? readCall(ctx, key) : row;
}

/** @throws ServiceError invalid */
function endOf({
  outcome,
  durationSeconds,
  answeredAt,
  recordingUrl,
  notes,
  endedBy,
}: CompleteConversationRequest): CallEnd {
  const name = nameOf(CALL_OUTCOMES, outcome);
  if (!name) throw invalid("outcome", "outcome must be SUCCESS, NO_ANSWER, BUSY, CANCELLED, HUNG_UP_EARLY or ERROR");
  if (durationSeconds !== undefined && !(durationSeconds >= 0 && Number.isFinite(durationSeconds))) {
    throw invalid("duration_seconds", "duration_seconds must be a number of at least 0");
  }
  if (recordingUrl) checkUrl("recording_url", recordingUrl);
  if (notes && isLonger(notes, NOTES_MAX)) throw invalid("notes", `notes must be at most ${NOTES_MAX} characters`);
  return {
    status: STATUSES[name],
    outcome: name,
    durationSeconds: durationSeconds ?? null,
    answeredAt: timeOf("answered_at", answeredAt) ?? null,
    recordingUrl: recordingUrl || null,
    notes: notes ? storable(notes) : null,
    endedBy: nameOf(ENDED_BY, endedBy ?? 0) ?? null,
  };
}
