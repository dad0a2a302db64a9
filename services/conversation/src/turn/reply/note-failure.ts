import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { ConversationContext } from "../../context.ts";
import { noteFailure } from "../../store/conversations.ts";
import { storable } from "../../store/storable.ts";
import type { AcceptedTurn } from "../accept-turn.ts";

/** Several models may have failed, each for a reason of its own. */
const NOTES_MAX = 2_000;

/** Keeps why the model of a turn failed in the notes of its conversation, where its owner finds it later. */
export async function noteModelFailure(
  { db, clock }: Pick<ConversationContext, "db" | "clock">,
  turn: AcceptedTurn,
  error: unknown,
  log: Logger,
): Promise<void> {
  if (!(error instanceof ServiceError) || !error.kind.startsWith("upstream_")) return;
  const notes = storable(`Reply ${turn.replySeq} failed: ${error.detail}`).slice(0, NOTES_MAX).toWellFormed();
  try {
    await noteFailure(db, turn, notes, clock.now());
  } catch (err) {
    log.warn({ conversation_id: turn.conversationId, err }, "why a reply failed could not be noted");
  }
}
