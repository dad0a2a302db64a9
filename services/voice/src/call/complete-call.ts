import { CompleteConversationRequest, Outcome } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Recordings } from "../recording/recordings.ts";
import type { CallKey } from "../store/calls.ts";
import type { CallEnd } from "./port.ts";
import { asServiceError, type Conversations } from "./transcript.ts";

/**
 * Completes the conversation of a call.
 * @returns false if there is none: it did not begin, or is past its owner's retention
 */
export async function complete(
  conversations: Pick<Conversations, "completeConversation">,
  key: CallKey,
  end: CallEnd,
  recordingUrl: string | null = null,
): Promise<boolean> {
  const { outcome, durationSeconds, notes } = end;
  const request = CompleteConversationRequest.fromPartial({
    ...key,
    outcome: Outcome[`OUTCOME_${outcome}`],
    durationSeconds,
    ...(notes !== null && { notes }),
    ...(recordingUrl !== null && { recordingUrl }),
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
  /** Notes how a call ended. @returns how it ended, if that was noted before */
  recordEnd(call: CallKey, end: CallEnd): Promise<CallEnd>;
  /** Is told of a call whose conversation did not begin: the one that an agent makes gets it nevertheless. */
  unbegun?(call: CallKey): Promise<void>;
  recordings: Pick<Recordings, "addressOf" | "finish">;
}

/** Ends the conversation of a call whose process is gone. */
export async function completeLost(
  { conversations, recordEnd, unbegun, recordings }: LostCallContext,
  key: CallKey,
  durationSeconds: number | null,
): Promise<void> {
  const notes = "The process that held this call stopped unexpectedly";
  const end: CallEnd = { outcome: "ERROR", durationSeconds: Math.max(0, durationSeconds ?? 0), notes };
  const recordingUrl = durationSeconds === null ? null : await recordings.addressOf(key);
  if (!(await complete(conversations, key, await recordEnd(key, end), recordingUrl))) await unbegun?.(key);
  await recordings.finish(key);
}
