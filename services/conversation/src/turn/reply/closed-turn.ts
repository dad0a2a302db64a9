import { ServiceError } from "@parley/shared/errors";
import type { ConversationContext } from "../../context.ts";
import { findConversation } from "../../store/conversations.ts";
import type { SessionKey } from "../../store/session-key.ts";

/**
 * Why a turn had closed before its end could be stored: the conversation was deleted or ended, or another turn took over.
 * @param what is in progress and what could not be stored, in the words of whoever asked
 * @returns a conflict
 */
export async function closedTurn(
  { db, clock }: Pick<ConversationContext, "db" | "clock">,
  key: SessionKey,
  what: { conversation: "session" | "conversation"; unstored: string },
): Promise<ServiceError> {
  const now = await findConversation(db, key, clock.now());
  const happened = now === null ? "was deleted" : now.status === "IN_PROGRESS" ? "continued" : "ended";
  return new ServiceError("conflict", `The ${what.conversation} ${happened} before ${what.unstored} could be stored`);
}
