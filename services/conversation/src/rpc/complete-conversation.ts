import {
  type CompleteConversationRequest,
  type ConversationServiceService,
  Outcome,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { CONVERSATION_STATUSES } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import { isLonger } from "@parley/shared/text/length";
import { readCall } from "../calls/read-call.ts";
import { checkUrl } from "../calls/url.ts";
import type { ConversationContext } from "../context.ts";
import { storable } from "../storable.ts";
import { type CallEnd, endCall } from "../store/calls.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["completeConversation"]>;

/** The status that each outcome leads to (docs/voice-runtimes.md#completing). */
const STATUSES: Record<Exclude<Outcome, 0>, CallEnd["status"]> = {
  [Outcome.OUTCOME_SUCCESS]: "COMPLETED",
  [Outcome.OUTCOME_NO_ANSWER]: "DISCONNECTED",
  [Outcome.OUTCOME_BUSY]: "DISCONNECTED",
  [Outcome.OUTCOME_CANCELLED]: "DISCONNECTED",
  [Outcome.OUTCOME_HUNG_UP_EARLY]: "DISCONNECTED",
  [Outcome.OUTCOME_ERROR]: "FAILED",
};
const NOTES_MAX = 10_000;

/** Ends a conversation once; repeating the call returns how it ended and changes nothing. */
export function completeConversation(ctx: ConversationContext): Handler {
  return async (request) => {
    const end = endOf(request);
    const { ownerId, conversationId } = await readCall(ctx, request);
    const key = { ownerId, conversationId };
    if (await endCall(ctx.db, key, end, ctx.clock.now())) return { status: CONVERSATION_STATUSES[end.status] };
    return { status: CONVERSATION_STATUSES[(await readCall(ctx, key)).status] };
  };
}

/** @throws ServiceError invalid */
function endOf({ outcome, durationSeconds, recordingUrl, notes }: CompleteConversationRequest): CallEnd {
  const status = outcome === Outcome.OUTCOME_UNSPECIFIED ? undefined : STATUSES[outcome];
  if (!status) throw invalid("outcome", "outcome must be SUCCESS, NO_ANSWER, BUSY, CANCELLED, HUNG_UP_EARLY or ERROR");
  if (durationSeconds !== undefined && !(durationSeconds >= 0 && Number.isFinite(durationSeconds))) {
    throw invalid("duration_seconds", "duration_seconds must be a number of at least 0");
  }
  if (recordingUrl) checkUrl("recording_url", recordingUrl);
  if (notes && isLonger(notes, NOTES_MAX)) throw invalid("notes", `notes must be at most ${NOTES_MAX} characters`);
  return {
    status,
    durationSeconds: durationSeconds ?? null,
    recordingUrl: recordingUrl || null,
    notes: notes ? storable(notes) : null,
  };
}
