import { isFull } from "@parley/shared/domain/full";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { Connection } from "../channels/channel.ts";
import type { ThreadContext } from "../context.ts";
import { dropWaiting, listWaiting, setContent, type WaitingMessage } from "../store/incoming.ts";
import { insertOutgoing, type OutgoingContent } from "../store/outgoing.ts";
import {
  beginTurn,
  endTurn,
  findThread,
  type OpenTurn,
  postponeTurn,
  type Thread,
  type ThreadKey,
} from "../store/threads.ts";
import { askAgent } from "./ask-agent.ts";
import { backOffMs, GIVE_UP_MS } from "./back-off.ts";
import { bundleOf, dueOf } from "./bundle.ts";
import { conversationFor, isInProgress, nextConversation } from "./conversation.ts";
import { hearNote } from "./hear-note.ts";
import { splitText } from "./split-text.ts";
import type { Step } from "./step.ts";

/** The most messages of one turn: more than anyone writes in that time. The next turn takes the rest. */
const MESSAGES_MAX = 20;
/** How often a thread asks whether its owner has room again. */
const FULL_RETRY_MS = 5 * 60_000;
/** The longest reply that is spoken: a longer one is easier to read than to hear. */
const SPOKEN_CHARACTERS_MAX = 1_000;

/** Continues a thread's turn, or begins one with the messages that wait. While their owner is full, they wait. */
export async function takeTurn(ctx: ThreadContext, key: ThreadKey, gone: AbortSignal): Promise<Step> {
  const thread = await findThread(ctx.db, key);
  if (!thread) return null;
  try {
    return await (isOpen(thread) ? goOn(ctx, thread, gone) : begin(ctx, thread, gone));
  } catch (error) {
    if (isFull(error)) return new Date(ctx.clock.now().getTime() + FULL_RETRY_MS);
    throw error;
  }
}

function isOpen(thread: Thread): thread is OpenTurn {
  return thread.turnId !== null;
}

async function begin(ctx: ThreadContext, thread: Thread, gone: AbortSignal): Promise<Step> {
  const waiting = await listWaiting(ctx.db, thread, MESSAGES_MAX);
  const [first, last] = [waiting[0], waiting.at(-1)];
  if (!first || !last) return null;
  const now = ctx.clock.now();
  const dueAt = dueOf(first.receivedAt, last.receivedAt);
  if (dueAt > now) return dueAt;
  const connection = await ctx.channelOf(thread.channel).connect(thread.ownerId, thread.carrierId);
  const agentId = connection && (await connection.agent());
  if (!connection || !agentId) return drop(ctx, thread);
  const unheard = waiting.find(({ content }) => content.type === "voice");
  if (unheard) return hear(ctx, connection, agentId, thread, unheard, gone);
  const taken = bundleOf(waiting);
  const conversationId = await conversationFor(ctx, thread, connection, agentId).catch(nullIfGone);
  if (conversationId === null) return drop(ctx, thread);
  const turn = {
    turnId: newUuid(),
    text: taken.map(({ content }) => ("text" in content ? content.text : "")).join("\n"),
    wasSpoken: taken.some(({ content }) => content.type === "heard"),
    messages: taken,
  };
  const isBegun = await ctx.db.begin((tx) => beginTurn(tx, { ...thread, conversationId }, turn, now));
  if (isBegun) ctx.log.debug({ conversation_id: conversationId, messages: taken.length }, "turn of a thread started");
  return "done";
}

async function drop(ctx: ThreadContext, thread: Thread): Promise<Step> {
  const dropped = await dropWaiting(ctx.db, thread);
  const { ownerId: owner_id, carrierId: carrier_id, channel } = thread;
  ctx.log.warn({ owner_id, carrier_id, channel, dropped }, "no agent answers this number: its messages are dropped");
  return "done";
}

/** The number's agent may have been deleted. @throws any other error */
function nullIfGone(error: unknown): null {
  if (error instanceof ServiceError && (error.kind === "not_found" || error.kind === "forbidden")) return null;
  throw error;
}

async function hear(
  ctx: ThreadContext,
  connection: Connection,
  agentId: string,
  thread: ThreadKey,
  { messageId, content, receivedAt }: WaitingMessage,
  gone: AbortSignal,
): Promise<Step> {
  if (content.type !== "voice") return "done";
  const heard = await hearNote(ctx, connection, agentId, { mediaId: content.mediaId, receivedAt }, gone);
  if (heard instanceof Date) return heard;
  await setContent(ctx.db, thread, messageId, heard);
  return "done";
}

async function goOn(ctx: ThreadContext, turn: OpenTurn, gone: AbortSignal): Promise<Step> {
  const now = ctx.clock.now();
  if (turn.turnDueAt > now) return turn.turnDueAt;
  const { ownerId: owner_id, conversationId: conversation_id } = turn;
  const answer = await askAgent(ctx, turn, gone);
  switch (answer.type) {
    case "reply":
      await storeReply(ctx, turn, answer);
      return "done";
    case "ended": {
      // It ended after the turn had begun: the turn is the first of another conversation.
      const connection = await ctx.channelOf(turn.channel).connect(turn.ownerId, turn.carrierId);
      if (connection && !(await isInProgress(ctx, turn, connection))) {
        await nextConversation(ctx, turn, connection, turn.agentId);
        await postponeTurn(ctx.db, turn, { dueAt: now, turnId: newUuid() });
        return "done";
      }
      break;
    }
    case "later": {
      const dueAt = new Date(now.getTime() + backOffMs(turn.turnAttempts + 1, answer.afterMs));
      if (dueAt.getTime() - turn.turnBeganAt.getTime() > GIVE_UP_MS) break;
      await postponeTurn(ctx.db, turn, { dueAt, ...(answer.asNew && { turnId: newUuid() }) });
      return "done";
    }
    case "full": {
      const dueAt = new Date(now.getTime() + FULL_RETRY_MS);
      // The time for other failures begins when there is room.
      await postponeTurn(ctx.db, turn, { dueAt, turnId: newUuid(), beganAt: dueAt });
      return "done";
    }
    case "refused":
      break;
  }
  ctx.log.warn({ owner_id, conversation_id, reason: answer.reason }, "gave up on a turn of a thread, without a reply");
  await endTurn(ctx.db, turn, now);
  return "done";
}

async function storeReply(
  ctx: ThreadContext,
  turn: OpenTurn,
  { text, sequence }: { text: string; sequence: number },
): Promise<void> {
  const now = ctx.clock.now();
  const words = text.trim();
  const isSpeakable = turn.turnWasSpoken && words !== "" && words.length <= SPOKEN_CHARACTERS_MAX;
  const contents: OutgoingContent[] =
    isSpeakable && (await wantsVoice(ctx, turn))
      ? [{ type: "voice", text: words }]
      : splitText(text, ctx.channelOf(turn.channel).textCharactersMax).map((part) => ({ type: "text", text: part }));
  const { ownerId, carrierId, contact, channel, conversationId, agentId } = turn;
  const giveUpAt = new Date(now.getTime() + GIVE_UP_MS);
  const parts = contents.map((content) => {
    const key = { ownerId, carrierId, contact, channel, conversationId, agentId, sequence };
    return { ...key, messageId: newUuid(), content, giveUpAt };
  });
  await ctx.db.begin(async (tx) => {
    const isOurs = await endTurn(tx, turn, now);
    if (isOurs && parts.length > 0) await insertOutgoing(tx, parts, now);
  });
}

async function wantsVoice(
  { agents, channelOf }: ThreadContext,
  { ownerId, agentId, channel }: OpenTurn,
): Promise<boolean> {
  const settings = await agents.getChannelSettings({ ownerId, agentId }).catch(nullIfGone);
  return settings !== null && channelOf(channel).speaks(settings);
}
