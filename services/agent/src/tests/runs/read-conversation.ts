import type { Conversation } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { notFound } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { Drivers } from "./driver.ts";

const TIMEOUT_MS = 20_000;

/** A stored conversation with all that tests look at. @throws ServiceError not_found or forbidden */
export async function readConversation(
  { conversations }: Pick<Drivers, "conversations">,
  key: { ownerId: string; conversationId: string },
  origin?: CallOrigin,
): Promise<Conversation> {
  const request = { ...key, withToolCalls: true, withUsage: true, withKnowledge: true };
  const { conversation } = await conversations.getConversation(request, { origin, timeoutMs: TIMEOUT_MS });
  if (!conversation) throw notFound("Conversation", "conversation_id");
  return conversation;
}
