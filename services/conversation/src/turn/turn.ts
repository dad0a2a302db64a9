import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { databaseUnreachable, isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { cancelled, ServiceError, withMetadata } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import { replyWords } from "../live/words.ts";
import type { Asked } from "../model/port.ts";
import { watchModel } from "../model/watch.ts";
import type { ReplyKnowledge } from "../store/reply-knowledge.ts";
import type { Client, ClientCall } from "../tools/client-calls.ts";
import { type ToolEvent, tellerOf } from "../tools/telling.ts";
import {
  type Acceptance,
  type Alone,
  acceptTurn,
  answeredBefore,
  leftToOperator,
  prepareTurn,
  requestedTurn,
} from "./accept-turn.ts";
import { answer } from "./answer.ts";
import { beginTurn } from "./begin-turn.ts";
import { acceptKeyedTurn } from "./keyed-turn.ts";
import { noteModelFailure } from "./reply/note-failure.ts";
import { readerPatience } from "./reply/reader-patience.ts";
import { checkpointReply } from "./reply/reply-checkpoints.ts";
import { emptyReply } from "./reply/speak.ts";
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
  asked: Asked,
  tell: Tell,
): Promise<void> {
  const turn = requestedTurn(requested);
  const memory = await takeTurnMemory(ctx.turnShares, turn.ownerId);
  try {
    const begunAt = performance.now();
    const taken = await accept(ctx, turn, call);
    if (taken.type === "run") return await askAndStore(ctx, turn, taken, call, { asked, begunAt }, memory, tell);
    const { sessionId, replySeq, text, knowledge, clientCalls, replayed, isOperators } = taken;
    await tell({ type: "started", sessionId, replySeq, replayed });
    if (text !== "") await tell({ type: "text", text });
    if (knowledge) await tell({ type: "knowledge", knowledge });
    if (clientCalls.length > 0) await tell({ type: "client_calls", calls: clientCalls });
    if (isOperators) await tell({ type: "operator" });
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

/** Asks, speaks and stores: the turn from its stored user message on. */
async function askAndStore(
  ctx: ConversationContext,
  turn: Turn,
  { prepared, accepted }: Extract<Acceptance, { type: "run" }>,
  call: Call,
  { asked, begunAt }: { asked: Asked; begunAt: number },
  memory: TurnMemory,
  tell: Tell,
): Promise<void> {
  const { signal, log } = call;
  const sessionId = accepted.conversationId;
  const key = turn.idempotency?.key ?? null;
  const reply = emptyReply(prepared.agent, prepared.model);
  const lease = keepTurn(ctx, accepted);
  const checkpoints = checkpointReply(ctx, accepted, () => replySoFar(reply), log);
  const watch = watchModel(() => reply.by.provider, ctx.limits.model, {
    clientGone: key === null ? signal : NEVER,
    cutOff: ctx.turns.cutOff,
  });
  const stopped = cancelled();
  const stopListening = ctx.live.onStop(accepted, begunAt, () => watch.fail(stopped));
  // A turn with a key runs to its end, whether its client reads or not.
  const waitForReader = key === null ? readerPatience() : () => null;
  const words = replyWords(ctx.live, accepted, accepted.replySeq);
  const say = (text: string) => {
    words.say(text);
    const behind = tell({ type: "text", text });
    return behind && waitForReader(behind);
  };
  try {
    tell({ type: "started", sessionId, replySeq: accepted.replySeq, replayed: false });
    const begun = await beginTurn(ctx, turn, prepared, accepted, call);
    if (begun.type === "rejects") {
      Object.assign(reply, { text: begun.say, isRejected: true, isWhole: true });
      await say(begun.say);
    } else {
      const { agent, model } = begun.prepared;
      Object.assign(reply, { agent, by: { provider: model.provider, name: model.name } });
      const message = turn.toolResults.length > 0 ? null : turn.message;
      const teller = turn.tellsTools ? tellerOf(tell) : undefined;
      const client: Client = { take: (calls) => void reply.clientCalls.push(...calls), isAwaited: false };
      const isThread = turn.type === ConversationType.CONVERSATION_TYPE_WHATSAPP;
      const channel = { name: isThread ? ("message" as const) : ("chat" as const), note: "" };
      const answering = { message, channel, asked, memory, watch, log, say, teller };
      const has = { client: turn.clientTools ? client : undefined };
      await answer(ctx, reply, { ...begun.prepared, accepted: begun.accepted, ...answering, ...has });
    }
  } catch (error) {
    if (error !== stopped) {
      await noteModelFailure(ctx, accepted, error, log);
      throw inSession(error, sessionId);
    }
    if (reply.text === "") tell({ type: "operator" });
  } finally {
    stopListening();
    watch.done();
    words.stop();
    checkpoints.stop();
    const ended = { accepted, reply, key, isStreamed: asked === "streamed", checkpointed: checkpoints.begun };
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

/** The signal of a client whose turn runs to its end whether it waits or not. */
const NEVER = new AbortController().signal;

/** The failure, with the session it happened in: a client can continue there. */
function inSession(error: unknown, sessionId: string): unknown {
  const known = isUnreachableDatabase(error) ? databaseUnreachable(error) : error;
  return known instanceof ServiceError ? withMetadata(known, { session_id: sessionId }) : known;
}
