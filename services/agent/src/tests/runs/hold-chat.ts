import { ConversationType, EndedBy, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Drivers, Held, HeldConversation } from "./driver.ts";
import type { Said } from "./user.ts";

/** Longer than a reply with its tools may take. */
const TURN_TIMEOUT_MS = 180_000;

/** Holds a chat until the user or the agent ends it. @throws ServiceError as the turns do */
export async function holdChat({ conversations }: Drivers, held: HeldConversation): Promise<Held> {
  const { ownerId, agentId, agentVersion, setup, origin } = held;
  const { sessionId, firstMessage } = await conversations.startChat(
    { ownerId, agentId, agentVersion, test: setup, metadata: undefined, draftId: undefined },
    { origin },
  );
  held.begun(sessionId);
  const said: Said[] = firstMessage === "" ? [] : [{ by: "agent", text: firstMessage }];
  let endedBy: EndedBy = EndedBy.ENDED_BY_USER;
  while (true) {
    const next = await held.next(said);
    if ("ends" in next) {
      if (next.ends === "system") endedBy = EndedBy.ENDED_BY_SYSTEM;
      break;
    }
    const message = next.line.text;
    const turn = {
      ...Turn.fromPartial({ ownerId, agentId, sessionId, message }),
      type: ConversationType.CONVERSATION_TYPE_CHAT,
    };
    try {
      const { response } = await conversations.completeTurn({ turn }, { origin, timeoutMs: TURN_TIMEOUT_MS });
      said.push({ by: "user", text: message }, { by: "agent", text: response });
    } catch (error) {
      // The agent ended it: the user has nobody to talk to anymore.
      if (error instanceof ServiceError && error.kind === "conflict")
        return { conversationId: sessionId, latenciesMs: [] };
      throw error;
    }
  }
  await conversations.completeConversation(
    {
      ownerId,
      conversationId: sessionId,
      outcome: Outcome.OUTCOME_SUCCESS,
      endedBy,
      durationSeconds: undefined,
      recordingUrl: undefined,
      notes: undefined,
      answeredAt: undefined,
    },
    { origin },
  );
  return { conversationId: sessionId, latenciesMs: [] };
}
