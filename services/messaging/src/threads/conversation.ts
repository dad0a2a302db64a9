import { type Conversation, ConversationStatus } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { StartConversationRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { isFull } from "@parley/shared/domain/full";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { Connection } from "../channels/channel.ts";
import type { ThreadContext } from "../context.ts";
import { replaceConversation, type ThreadKey } from "../store/threads.ts";

interface Known extends ThreadKey {
  channel: string;
  conversationId: string | null;
  agentId: string | null;
}

interface Begun extends ThreadKey {
  channel: string;
  conversationId: string;
  agentId: string;
  /** Absent: the published one, or the one that it has begun with. */
  agentVersion?: number | undefined;
}

/**
 * The thread's conversation while it lasts and the agent is the same; otherwise a new one, which becomes the thread's unless another
 * process has replaced it too.
 */
export async function conversationFor(
  ctx: ThreadContext,
  thread: Known,
  connection: Connection,
  agentId: string,
): Promise<string> {
  const { conversationId } = thread;
  if (conversationId && thread.agentId === agentId) {
    if (await isInProgress(ctx, { ...thread, conversationId, agentId }, connection)) return conversationId;
  }
  return nextConversation(ctx, thread, connection, agentId);
}

/** Begins a conversation that becomes the thread's, unless another process has replaced it too. @returns its id */
export async function nextConversation(
  ctx: ThreadContext,
  thread: ThreadKey & Pick<Known, "channel" | "conversationId">,
  connection: Connection,
  agentId: string,
): Promise<string> {
  const fresh = { conversationId: newUuid(), agentId };
  // Stored first, so that a process that dies in between leaves no unknown conversation.
  if (await replaceConversation(ctx.db, thread, thread.conversationId, fresh, ctx.clock.now()))
    await startThread(ctx, { ...thread, ...fresh }, connection);
  return fresh.conversationId;
}

/** Whether the conversation continues. Begins it if that failed before. */
export async function isInProgress(ctx: ThreadContext, thread: Begun, connection: Connection): Promise<boolean> {
  try {
    const { status } = await startThread(ctx, thread, connection);
    return status === ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS;
  } catch (error) {
    // It is past its retention, or the connection has another number by now.
    if (error instanceof ServiceError && error.kind === "conflict" && !isFull(error)) return false;
    throw error;
  }
}

/** Begins the conversation, or returns it as it is. @throws ServiceError */
export async function startThread(
  { conversations, channelOf }: ThreadContext,
  { ownerId, agentId, agentVersion, conversationId, channel, contact }: Begun,
  connection: Connection,
): Promise<Conversation> {
  const request = StartConversationRequest.fromPartial({
    ownerId,
    agentId,
    agentVersion,
    conversationId,
    type: channelOf(channel).conversationType,
    ...connection.numbersWith(contact),
  });
  const { conversation } = await conversations.startConversation(request);
  if (!conversation) throw new ServiceError("internal", "the conversation service returned no conversation");
  return conversation;
}
