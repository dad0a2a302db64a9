import { ConversationStatus, EndedBy, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { CompleteConversationRequest, Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { Drivers, Held, HeldConversation } from "./driver.ts";
import type { Said } from "./user.ts";

/** Longer than a reply with its tools may take. */
const TURN_TIMEOUT_MS = 180_000;

/** Holds a chat until the user or the agent ends it. @throws ServiceError as the turns do */
export async function holdChat(drivers: Drivers, held: HeldConversation): Promise<Held> {
  const { ownerId, agentId, agentVersion, conversationId, setup, origin } = held;
  const { sessionId, firstMessage } = await drivers.conversations.startChat(
    {
      ...{ ownerId, agentId, agentVersion, sessionId: conversationId },
      ...{ test: setup, metadata: undefined, draftId: undefined },
    },
    { origin },
  );
  held.begun(sessionId);
  try {
    const endedBy = await talk(drivers, held, sessionId, firstMessage);
    await endChat(drivers, held, sessionId, endedBy);
    return { conversationId: sessionId, isCutShort: endedBy === EndedBy.ENDED_BY_SYSTEM, latenciesMs: [] };
  } catch (error) {
    // It would stay in progress until it counts as idle. Whoever cancelled the attempt does not wait for this.
    const { requestId } = origin;
    await endChat(drivers, { ownerId, origin: { requestId } }, sessionId, EndedBy.ENDED_BY_SYSTEM).catch(() => {});
    throw error;
  }
}

/** @returns who leaves; for an agent that has, whoever is said here changes nothing */
async function talk(
  { conversations }: Drivers,
  { ownerId, agentId, origin, next }: HeldConversation,
  sessionId: string,
  firstMessage: string,
): Promise<EndedBy> {
  const said: Said[] = firstMessage === "" ? [] : [{ by: "agent", text: firstMessage }];
  for (;;) {
    const asked = await next(said);
    if ("ends" in asked) return asked.ends === "system" ? EndedBy.ENDED_BY_SYSTEM : EndedBy.ENDED_BY_USER;
    const message = asked.line.text;
    const turn = Turn.fromPartial({ ownerId, agentId, sessionId, message });
    try {
      const { response } = await conversations.completeTurn({ turn }, { origin, timeoutMs: TURN_TIMEOUT_MS });
      said.push({ by: "user", text: message }, { by: "agent", text: response });
    } catch (error) {
      if (!(error instanceof ServiceError && error.kind === "condition")) throw error;
      // The agent may have ended it: then the user has nobody to talk to anymore.
      const key = { ownerId, conversationId: sessionId, withToolCalls: false, withUsage: false, withKnowledge: false };
      const { conversation } = await conversations.getConversation(key, { origin });
      if (conversation?.status === ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS) throw error;
      return EndedBy.ENDED_BY_AGENT;
    }
  }
}

/** Ends the conversation of a test, a call's too. One that has ended stays as it is. */
export async function endChat(
  { conversations }: Pick<Drivers, "conversations">,
  { ownerId, origin }: Pick<HeldConversation, "ownerId" | "origin">,
  conversationId: string,
  endedBy: EndedBy,
): Promise<void> {
  const end = { ...CompleteConversationRequest.fromPartial({ ownerId, conversationId }), endedBy };
  await conversations.completeConversation({ ...end, outcome: Outcome.OUTCOME_SUCCESS }, { origin });
}
