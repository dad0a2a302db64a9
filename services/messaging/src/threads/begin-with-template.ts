import { Message, Role } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Connection } from "../channels/channel.ts";
import type { ThreadContext } from "../context.ts";
import { type Outgoing, setSequence } from "../store/outgoing.ts";
import { setConversation } from "../store/threads.ts";
import { startThread } from "./conversation.ts";

const FIRST = 1;

/** Begins the conversation that a template opens, with the template as its first message. May be repeated. */
export async function beginWithTemplate(ctx: ThreadContext, message: Outgoing, connection: Connection): Promise<void> {
  const { ownerId, conversationId, content } = message;
  const agentVersion = content.type === "template" ? content.agentVersion : undefined;
  await startThread(ctx, { ...message, agentVersion }, connection);
  const said = Message.fromPartial({ role: Role.ROLE_ASSISTANT, content: content.text });
  await ctx.conversations.appendTranscript(
    (async function* () {
      yield { ownerId, conversationId, sequence: FIRST, message: said };
    })(),
  );
  await setConversation(ctx.db, message, message, ctx.clock.now());
  await setSequence(ctx.db, message, FIRST);
}
