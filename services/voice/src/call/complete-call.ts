import { type EndedBy, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { CompleteConversationRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Recordings } from "../recording/recordings.ts";
import type { CallEnd, CallKey, LostCall } from "../store/calls.ts";
import type { FarEnd } from "../transport/leg.ts";
import { asServiceError, type Conversations } from "./transcript.ts";

interface EndFacts {
  recordingUrl?: string | null;
  answeredAt?: Date | null;
  /** Absent if nobody was on the line. */
  endedBy?: EndedBy | undefined;
}

/**
 * Completes the conversation of a call.
 * @returns false if there is no conversation: it did not begin, or is past its owner's retention
 */
export async function complete(
  conversations: Pick<Conversations, "completeConversation">,
  key: CallKey,
  end: CallEnd,
  { recordingUrl = null, answeredAt = null, endedBy }: EndFacts = {},
): Promise<boolean> {
  const { outcome, durationSeconds, notes } = end;
  const request = CompleteConversationRequest.fromPartial({
    ...key,
    outcome: Outcome[`OUTCOME_${outcome}`],
    durationSeconds,
    ...(answeredAt !== null && { answeredAt }),
    ...(notes !== null && { notes }),
    ...(recordingUrl !== null && { recordingUrl }),
    endedBy,
  });
  try {
    await conversations.completeConversation(request);
    return true;
  } catch (error) {
    if (asServiceError(error).kind !== "not_found") throw error;
    return false;
  }
}

export interface LostCallContext {
  conversations: Pick<Conversations, "completeConversation">;
  /** Records how a call ended. @returns how it ended, if that was noted before */
  recordEnd(call: CallKey, end: CallEnd): Promise<CallEnd>;
  clock: Clock;
  /** Called for a call whose conversation did not begin. @returns whether the conversation is still completed, as for outbound calls */
  unbegun?(call: CallKey): Promise<boolean>;
  recordings: Pick<Recordings, "addressOf" | "finish">;
  /** Has a job end what is left of the call at the other side. */
  hangUp(call: CallKey, farEnd: FarEnd): Promise<void>;
}

/**
 * The longest that a request to start a conversation is in progress: its call asks for 10 s, and the conversation service writes for 15 s at
 * most, even if nobody waits for it anymore.
 */
const MAY_BEGIN_MS = 60_000;

/**
 * Ends the conversation of a call whose process is gone.
 * @returns false if the conversation has not begun, and may still begin
 */
export async function completeLost(
  { conversations, recordEnd, unbegun, recordings, clock, hangUp }: LostCallContext,
  { startedAt, connectedAt, durationSeconds, farEnd, ...key }: LostCall,
): Promise<boolean> {
  if (farEnd) await hangUp(key, farEnd as FarEnd);
  const notes = "The process that held this call stopped unexpectedly";
  const end: CallEnd = { outcome: "ERROR", durationSeconds: Math.max(0, durationSeconds ?? 0), notes };
  const recordingUrl = durationSeconds === null ? null : await recordings.addressOf(key);
  const isEnded = await complete(conversations, key, await recordEnd(key, end), {
    recordingUrl,
    answeredAt: connectedAt,
  });
  const mayBegin = clock.now().getTime() - startedAt.getTime() < MAY_BEGIN_MS;
  if (!isEnded && !(await unbegun?.(key)) && mayBegin) return false;
  await recordings.finish(key);
  return true;
}
