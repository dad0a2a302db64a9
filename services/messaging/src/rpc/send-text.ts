import { ServiceError } from "@parley/shared/errors";
import type { Handler, ThreadContext } from "../context.ts";
import { insertOutgoingOnce } from "../store/outgoing.ts";
import { findThreadOf } from "../store/threads.ts";
import { GIVE_UP_MS } from "../threads/back-off.ts";
import { splitText } from "../threads/split-text.ts";
import { enqueueThreads } from "../threads/thread-queue.ts";

/** Sends what an operator wrote to the person of a thread. */
export function sendText(ctx: ThreadContext): Handler<"sendText"> {
  return async ({ ownerId, conversationId, messageId, sequence, text }) => {
    const thread = await findThreadOf(ctx.db, ownerId, conversationId);
    if (!thread) throw new ServiceError("condition", "The conversation is not the newest one with its person");
    const now = ctx.clock.now();
    const { carrierId, contact, channel, agentId } = thread;
    const giveUpAt = new Date(now.getTime() + GIVE_UP_MS);
    const key = { ownerId, carrierId, contact, channel, conversationId, agentId, sequence, giveUpAt };
    const parts = splitText(text, ctx.channelOf(channel).textCharactersMax).map((part, at) => {
      return { ...key, messageId: partId(messageId, at), content: { type: "text" as const, text: part } };
    });
    await ctx.db.begin(async (tx) => {
      await insertOutgoingOnce(tx, parts, now);
      await enqueueThreads(tx, [{ ownerId, carrierId, contact, dueAt: now }]);
    });
    return {};
  };
}

/** The ids of a text's parts are the same each time. */
function partId(messageId: string, at: number): string {
  return messageId.slice(0, -2) + at.toString(16).padStart(2, "0");
}
