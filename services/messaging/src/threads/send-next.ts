import { CarrierRefusal, CarrierUnavailable } from "@parley/shared/carriers/errors";
import type { Sql } from "@parley/shared/db/database";
import type { Connection, Sendable } from "../channels/channel.ts";
import type { ThreadContext } from "../context.ts";
import {
  beginAttempt,
  extendAttempt,
  findNext,
  markFailed,
  markSent,
  type Outgoing,
  putOff,
  setOutgoingContent,
} from "../store/outgoing.ts";
import { findThread, setConversation, type ThreadKey } from "../store/threads.ts";
import { backOffMs } from "./back-off.ts";
import { beginWithTemplate } from "./begin-with-template.ts";
import { enqueueDelivery } from "./delivery-queue.ts";
import { isTransient } from "./hear-note.ts";
import type { Step } from "./step.ts";

const SPEAK_TIMEOUT_MS = 130_000;
/** Half of the shortest wait between attempts. After that, the attempt is extended before its request. */
const PREPARED_WITHIN_MS = backOffMs(1) / 2;

/**
 * Sends the thread's next message, if it is due. No channel has a key that makes a request count once. So a message whose
 * request got no answer waits for a report first, which repeats our own id, and is sent again only if none comes.
 */
export async function sendNext(ctx: ThreadContext, key: ThreadKey, gone: AbortSignal): Promise<Step> {
  const message = await findNext(ctx.db, key);
  if (!message) return null;
  const now = ctx.clock.now();
  if (message.dueAt > now) return message.dueAt;
  // The template's conversation becomes the thread's, and the turn in progress belongs to the one before.
  if (message.sequence === null && (await findThread(ctx.db, key))?.turnId) return null;
  if (message.attempts > 0 && now >= message.giveUpAt) return fail(ctx, message, "unavailable");
  const connection = await ctx.channelOf(message.channel).connect(key.ownerId, key.carrierId);
  if (!connection) return fail(ctx, message, "disconnected");
  const attempt = await beginAttempt(ctx.db, message, dueAfter(message.attempts + 1, now, message));
  if (!attempt) return "done";
  try {
    if (message.sequence === null) await beginWithTemplate(ctx, message, connection);
    const content = await sendableOf(ctx, connection, attempt, gone);
    if (!(await isStillOurs(ctx, attempt, now))) return "done";
    const { externalId, contact } = await connection.send(message.contact, message.messageId, content);
    await ctx.db.begin(async (tx) => {
      await markSent(tx, message, externalId);
      // The channel may know the person by another form of the number, and that is where an answer comes from.
      if (contact !== message.contact) await setConversation(tx, { ...key, contact }, message, ctx.clock.now());
      await tellDelivery(tx, ctx, message);
    });
    ctx.channelOf(message.channel).countSent("sent");
    return "done";
  } catch (error) {
    if (gone.aborted) throw error;
    return judge(ctx, attempt, error);
  }
}

/** Whether no other process has begun the next attempt, while this one spoke the reply or was frozen. */
async function isStillOurs({ db, clock }: ThreadContext, attempt: Outgoing, begunAt: Date): Promise<boolean> {
  const now = clock.now();
  if (now.getTime() - begunAt.getTime() < PREPARED_WITHIN_MS) return true;
  return extendAttempt(db, attempt, dueAfter(attempt.attempts, now, attempt));
}

/** When another attempt may follow the one with this number. */
function dueAfter(attempts: number, now: Date, { giveUpAt }: Outgoing, askedMs: number | null = null): Date {
  return new Date(Math.min(now.getTime() + backOffMs(attempts, askedMs), giveUpAt.getTime()));
}

/** @param message with the number of attempts, including the one that failed */
async function judge(ctx: ThreadContext, message: Outgoing, error: unknown): Promise<Step> {
  const { ownerId: owner_id, conversationId: conversation_id, channel, attempts } = message;
  if (error instanceof CarrierRefusal) {
    ctx.log.warn({ owner_id, conversation_id, channel, code: error.code }, "a message was refused by its channel");
    return fail(ctx, message, error.code);
  }
  if (!(error instanceof CarrierUnavailable) && !isTransient(error)) {
    ctx.log.warn({ owner_id, conversation_id, err: error }, "a message cannot be sent");
    return fail(ctx, message, "unavailable");
  }
  const askedMs = error instanceof CarrierUnavailable ? error.retryAfterMs : null;
  const dueAt = dueAfter(attempts, ctx.clock.now(), message, askedMs);
  ctx.log.info({ owner_id, conversation_id, attempts, err: error }, "a message could not be sent, will retry");
  await putOff(ctx.db, message, dueAt);
  return "done";
}

async function fail(ctx: ThreadContext, message: Outgoing, errorCode: string): Promise<Step> {
  await ctx.db.begin(async (tx) => {
    await markFailed(tx, message, errorCode);
    await tellDelivery(tx, ctx, message);
  });
  ctx.channelOf(message.channel).countSent("failed");
  return "done";
}

async function tellDelivery(tx: Sql, { clock }: ThreadContext, { ownerId, conversationId, sequence }: Outgoing) {
  const item = { conversationId, sequence: sequence ?? 1 };
  await enqueueDelivery(tx, ownerId, [item], clock.now());
}

/** A spoken reply is spoken once and becomes text if it cannot be. */
async function sendableOf(
  ctx: ThreadContext,
  connection: Connection,
  message: Outgoing,
  gone: AbortSignal,
): Promise<Sendable> {
  const { content, ownerId, agentId, messageId } = message;
  if (content.type !== "voice") return content;
  if (content.mediaId) return { type: "voice", mediaId: content.mediaId };
  const { text } = content;
  try {
    const origin = { requestId: messageId, signal: gone };
    const { audio } = await ctx.voices.speak({ ownerId, agentId, text }, { origin, timeoutMs: SPEAK_TIMEOUT_MS });
    const mediaId = await connection.upload(audio);
    await setOutgoingContent(ctx.db, message, { type: "voice", text, mediaId });
    return { type: "voice", mediaId };
  } catch (error) {
    if (gone.aborted) throw error;
    ctx.log.warn(
      { owner_id: ownerId, agent_id: agentId, err: error },
      "a reply is sent as text because it cannot be spoken",
    );
    await setOutgoingContent(ctx.db, message, { type: "text", text });
    return { type: "text", text };
  }
}
