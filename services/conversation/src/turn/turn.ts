import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { databaseUnreachable, isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { cancelled, ServiceError, withMetadata } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import { NEVER_GONE } from "@parley/shared/shares/few-at-once";
import type { ConversationContext } from "../context.ts";
import { type WatchedWords, watchedWords } from "../live/words.ts";
import type { ReplyMode } from "../model/port.ts";
import { type ModelWatch, watchModel } from "../model/watch.ts";
import type { ReplyKnowledge } from "../store/reply-knowledge.ts";
import type { Client, ClientCall } from "../tools/client-calls.ts";
import { type ToolEvent, tellerOf } from "../tools/telling.ts";
import {
  type Acceptance,
  type AcceptedTurn,
  type AnsweredTurn,
  acceptTurn,
  answeredBefore,
  leftToOperator,
  type RunnableTurn,
} from "./accept-turn.ts";
import { answer } from "./answer.ts";
import { beginTurn } from "./begin-turn.ts";
import { acceptKeyedTurn } from "./keyed-turn.ts";
import { type Alone, type PreparedTurn, prepareTurn, requestedTurn } from "./prepare-turn.ts";
import { noteModelFailure } from "./reply/note-failure.ts";
import { readerPatience } from "./reply/reader-patience.ts";
import { emptyReply, type Reply } from "./reply/reply.ts";
import { checkpointReply } from "./reply/reply-checkpoints.ts";
import { replySoFar, storeReply } from "./reply/store-reply.ts";
import { keepTurn } from "./running-turns.ts";
import { type TurnMemory, takeTurnMemory } from "./turn-memory.ts";

export type TurnEvent =
  /** The first, so that a client knows the session early. `replayed`: an earlier request with the same key got this reply. */
  | { type: "started"; sessionId: string; replySeq: number; replayed: boolean }
  /** A piece of the reply, which ends at a word boundary; together they are the reply. */
  | { type: "text"; text: string }
  /** Only in a turn that tells of its tools. */
  | ToolEvent
  /** What the models of the reply were given of knowledge bases, after its words. */
  | { type: "knowledge"; knowledge: ReplyKnowledge }
  /** The last one of a turn with calls that the client makes. */
  | { type: "client_calls"; calls: readonly ClientCall[] }
  /** The last one of a turn in which an operator answers, or the agent is muted: nothing was said. */
  | { type: "operator" };

/** Takes a turn's events in order. @returns a promise while the client is behind, or null; it settles when the client leaves */
export type Tell = (event: TurnEvent) => Promise<void> | null;

/**
 * One turn: accepts the user message, asks the model, speaks its reply and stores it. The user message is durable before the model
 * is called. Whatever the model said is stored, even if the client leaves; a turn with an idempotency key runs to its end even then.
 * @throws ServiceError not_found, forbidden, condition, conflict, invalid or rate_limited before the message is stored; afterwards
 * what the model fails with, with `session_id` in its metadata
 */
export async function runTurn(
  ctx: ConversationContext,
  requested: Turn | undefined,
  call: Call,
  mode: ReplyMode,
  tell: Tell,
): Promise<void> {
  const turn = requestedTurn(requested);
  const memory = await takeTurnMemory(ctx.turnShares, turn.ownerId);
  try {
    const begunAt = performance.now();
    const taken = await accept(ctx, turn, call);
    if (taken.type === "answered") await tellAnswer(taken, tell);
    else await answerAndStore(ctx, { turn, call, mode, tell, memory, begunAt }, taken);
  } finally {
    memory.release();
  }
}

async function accept(ctx: ConversationContext, turn: Turn, call: Call): Promise<Acceptance> {
  if (turn.idempotency) return acceptKeyedTurn(ctx, turn, turn.idempotency, call);
  const alone: Alone = (run) => ctx.turnShares.alone(turn.ownerId, call.signal, run);
  const prepared = await prepareTurn(ctx, turn, call, alone);
  const accepted = await acceptTurn(ctx, turn, prepared, alone);
  if (!accepted) return answeredBefore(turn.sessionId ?? "");
  return accepted.isQuiet ? leftToOperator(accepted.conversationId) : { type: "run", prepared, accepted };
}

async function tellAnswer(
  { sessionId, replySeq, text, knowledge, clientCalls, replayed, isOperators }: AnsweredTurn,
  tell: Tell,
): Promise<void> {
  await tell({ type: "started", sessionId, replySeq, replayed });
  if (text !== "") await tell({ type: "text", text });
  if (knowledge) await tell({ type: "knowledge", knowledge });
  if (clientCalls.length > 0) await tell({ type: "client_calls", calls: clientCalls });
  if (isOperators) await tell({ type: "operator" });
}

/** A turn that runs, and whoever it runs for. */
interface Run {
  turn: Turn;
  call: Call;
  mode: ReplyMode;
  tell: Tell;
  memory: TurnMemory;
  /** In `performance.now()` time. */
  begunAt: number;
}

/** The turn from its stored user message on. */
async function answerAndStore(ctx: ConversationContext, run: Run, { prepared, accepted }: RunnableTurn): Promise<void> {
  const { turn, call, mode, tell, begunAt } = run;
  const { signal, log } = call;
  const { conversationId: sessionId, replySeq } = accepted;
  const key = turn.idempotency?.key ?? null;
  const reply = emptyReply(prepared.agent, prepared.model);
  const lease = keepTurn(ctx, accepted);
  const checkpoints = checkpointReply(ctx, accepted, () => replySoFar(reply), log);
  const watch = watchModel(() => reply.by.provider, ctx.limits.model, {
    // A turn with a key runs to its end, whether its client waits or not.
    clientGone: key === null ? signal : NEVER_GONE,
    cutOff: ctx.turns.cutOff,
  });
  const stopped = cancelled();
  const stopListening = ctx.live.onStop(accepted, begunAt, () => watch.fail(stopped));
  const watched = watchedWords(ctx.live, accepted, replySeq);
  try {
    tell({ type: "started", sessionId, replySeq, replayed: false });
    await askAndSpeak(ctx, run, prepared, accepted, { reply, watch, watched });
  } catch (error) {
    if (error !== stopped) {
      await noteModelFailure(ctx, accepted, error, log);
      throw inSession(error, sessionId);
    }
    if (reply.text === "") tell({ type: "operator" });
  } finally {
    stopListening();
    watch.done();
    watched.stop();
    checkpoints.stop();
    const ended = { accepted, reply, key, isStreamed: mode === "streamed", checkpointed: checkpoints.begun };
    await storeReply(ctx, ended, log)
      .catch((error) => {
        throw inSession(error, sessionId);
      })
      // Only after the reply is stored, because another turn could otherwise begin before it.
      .finally(lease.stop);
  }
  if (reply.knowledge) tell({ type: "knowledge", knowledge: reply.knowledge });
  if (reply.clientCalls.length > 0) tell({ type: "client_calls", calls: reply.clientCalls });
}

/** Says what the start webhook rejects the conversation with, or what the model answers. */
async function askAndSpeak(
  ctx: ConversationContext,
  { turn, call, mode, tell, memory }: Run,
  prepared: PreparedTurn,
  accepted: AcceptedTurn,
  { reply, watch, watched }: { reply: Reply; watch: ModelWatch; watched: WatchedWords },
): Promise<void> {
  // A turn with a key runs to its end, whether its client reads or not.
  const waitForReader = turn.idempotency ? () => null : readerPatience();
  const say = (text: string) => {
    watched.say(text);
    const behind = tell({ type: "text", text });
    return behind && waitForReader(behind);
  };
  const begun = await beginTurn(ctx, turn, prepared, accepted, call);
  if (begun.type === "rejects") {
    Object.assign(reply, { text: begun.say, isRejected: true, isWhole: true });
    await say(begun.say);
    return;
  }
  const { agent, model } = begun.prepared;
  Object.assign(reply, { agent, by: { provider: model.provider, name: model.name } });
  const isThread = turn.type === ConversationType.CONVERSATION_TYPE_WHATSAPP;
  const client: Client = { take: (calls) => void reply.clientCalls.push(...calls), isAwaited: false };
  await answer(ctx, reply, {
    ...{ agent, model, accepted: begun.accepted, mode, memory, watch, log: call.log, say },
    message: turn.toolResults.length > 0 ? null : turn.message,
    channel: { name: isThread ? "message" : "chat", note: "" },
    teller: turn.tellsTools ? tellerOf(tell) : undefined,
    client: turn.clientTools ? client : undefined,
  });
}

/** The failure, with the session it happened in: a client can continue there. */
function inSession(error: unknown, sessionId: string): unknown {
  const known = isUnreachableDatabase(error) ? databaseUnreachable(error) : error;
  return known instanceof ServiceError ? withMetadata(known, { session_id: sessionId }) : known;
}
