import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { databaseUnreachable, isUnreachableDatabase } from "@parley/shared/db/unreachable";
import { ServiceError, withMetadata } from "@parley/shared/errors";
import type { Call } from "@parley/shared/rpc/call";
import { loopEntry } from "@parley/shared/shares/loop-entry";
import type { ConversationContext } from "../context.ts";
import { hearInPieces } from "../model/hear-in-pieces.ts";
import type { Asked, Hear, Model, ModelEnd, ModelRequest } from "../model/port.ts";
import { watchModel } from "../model/watch.ts";
import { type Acceptance, acceptTurn, prepareTurn } from "./accept-turn.ts";
import { type Channel, modelRequest } from "./ask/model-request.ts";
import { requestAhead } from "./ask/request-ahead.ts";
import { CHAT_TOOLS } from "./ask/tools.ts";
import { acceptKeyedTurn } from "./keyed-turn.ts";
import { noteModelFailure } from "./reply/note-failure.ts";
import { readerPatience } from "./reply/reader-patience.ts";
import { checkpointReply } from "./reply/reply-checkpoints.ts";
import { emptyReply, speak } from "./reply/speak.ts";
import { replySoFar, storeReply } from "./reply/store-reply.ts";
import { tellAtPace } from "./reply/tell-at-pace.ts";
import { GATHER_FROM_TURNS } from "./running-turns.ts";
import { keepTurn } from "./turn-lease.ts";
import { outOfTurnMemory, roomFor, type TurnMemory, takeTurnMemory } from "./turn-memory.ts";

export type TurnEvent =
  /** The first, so that a client knows the session early. `replayed`: an earlier request with the same key got this reply. */
  | { type: "started"; sessionId: string; replySeq: number; replayed: boolean }
  /** A piece of the reply, which ends at a word boundary; together they are the reply. */
  | { type: "text"; text: string };

/** Takes a turn's events in order. @returns a promise while the client is behind, or null; it settles when the client leaves */
export type Tell = (event: TurnEvent) => Promise<void> | null;

/**
 * A turn begins with two short pieces of work: up to its request to be accepted, which few turns of an owner make at a time, and
 * from there until it has asked the model. If only one owner has turns, their pieces begin together, so that they share
 * statements and messages.
 */
const enterTurn = loopEntry({ aloneMax: 16 });
const CHANNEL: Channel = { toolbox: CHAT_TOOLS, note: "" };

/**
 * One turn: accepts the user message, asks the model, speaks its reply and stores it. The user message is durable before the model
 * is called. Whatever the model said is stored, even if the client leaves; a turn with an idempotency key runs to its end even then.
 * @throws ServiceError not_found, forbidden, condition, conflict, invalid or rate_limited before the message is stored; afterwards
 * what the model fails with, with `session_id` in its metadata
 */
export async function runTurn(
  ctx: ConversationContext,
  turn: Turn,
  call: Call,
  asked: Asked,
  tell: Tell,
): Promise<void> {
  const memory = await takeTurnMemory(ctx.turnShares, turn.ownerId, call);
  const letMemoryGo = memory.keep();
  try {
    // Many of a gateway's turns arrive in one message.
    const entered = enterTurn(turn.ownerId);
    if (entered) await entered;
    const taken = await accept(ctx, turn, call, asked);
    if (taken.type === "run") return await answer(ctx, turn, taken, call, asked, memory, tell);
    await tell({ type: "started", sessionId: taken.sessionId, replySeq: taken.replySeq, replayed: true });
    if (taken.text !== "") await tell({ type: "text", text: taken.text });
  } finally {
    letMemoryGo();
  }
}

async function accept(ctx: ConversationContext, turn: Turn, call: Call, asked: Asked): Promise<Acceptance> {
  if (turn.idempotency) return acceptKeyedTurn(ctx, turn, turn.idempotency, call);
  return ctx.turnShares.accepting(turn.ownerId, call.signal, async () => {
    const prepared = await prepareTurn(ctx, turn, call);
    const accepting = acceptTurn(ctx, turn);
    const isNew = turn.sessionId === undefined;
    const { contextTokens } = ctx.limits;
    const ahead = isNew ? requestAhead(prepared, turn, contextTokens, CHANNEL, asked, enterTurn) : null;
    return { type: "run", prepared, accepted: await accepting, ahead };
  });
}

/** Asks, speaks and stores: the turn from its stored user message on. */
async function answer(
  ctx: ConversationContext,
  turn: Turn,
  { prepared: { agent, model }, accepted, ahead }: Extract<Acceptance, { type: "run" }>,
  { signal, log }: Call,
  asked: Asked,
  memory: TurnMemory,
  tell: Tell,
): Promise<void> {
  const sessionId = accepted.conversationId;
  const reply = emptyReply(model);
  // Whole answers have a pace where they are parsed.
  const answers = asked === "streamed" ? ctx.turnShares.ahead.ask(turn.ownerId) : null;
  const letMemoryGo = memory.keep();
  const lease = keepTurn(ctx, accepted);
  const checkpoints = checkpointReply(ctx, accepted, () => replySoFar(reply, agent), log);
  const watch = watchModel(() => reply.by.provider, ctx.limits.model, {
    clientGone: turn.idempotency ? NEVER : signal,
    cutOff: ctx.turns.cutOff,
  });
  try {
    tell({ type: "started", sessionId, replySeq: accepted.replySeq, replayed: false });
    // Turns that were stored by one statement continue together.
    const entered = enterTurn(turn.ownerId);
    if (entered) await entered;
    const request = ahead?.take() ?? (await modelRequest(ctx, agent, accepted, turn.message, CHANNEL));
    const hasRoom = roomFor(memory, request);
    if (!hasRoom(0)) throw outOfTurnMemory();
    const received = (bytes: number) => {
      if (!hasRoom(reply.text.length, bytes)) watch.fail(outOfTurnMemory());
    };
    let hasSpoken = false;
    // The first word never waits, nor does a lone turn.
    const mayRest = () => hasSpoken && ctx.turns.count() >= GATHER_FROM_TURNS;
    const isAwaited = () => !hasSpoken;
    const meter = { ownerId: turn.ownerId, received, mayRest, isAwaited };
    const pace = ctx.turnShares.replies;
    const parsed = (characters: number) => pace.take(turn.ownerId, characters, watch.signal);
    const metering = { meter, parsed, ...(answers && { ahead: answers.arrived }) };
    const due = () => answers?.due(watch.signal, enterTurn) ?? null;
    const ask = (round: ModelRequest, hear: Hear) =>
      askModel(turn.ownerId, model, { ...round, ...metering }, asked, watch.signal, hear);
    const say = tellAtPace({
      tell: (text) => {
        hasSpoken = true;
        return tell({ type: "text", text });
      },
      // A turn with a key runs to its end, whether its client reads or not.
      waitForReader: turn.idempotency ? null : readerPatience(),
      pace,
      ownerId: turn.ownerId,
      signal: watch.signal,
    });
    const { clock, limits } = ctx;
    const speaking = {
      due,
      ask,
      request,
      tools: agent.tools,
      toolbox: CHAT_TOOLS,
      clock,
      watch,
      hasRoom,
      limits: limits.model,
    };
    await speak(reply, { ...speaking, say });
  } catch (error) {
    await noteModelFailure(ctx, accepted, error, log);
    throw inSession(error, sessionId);
  } finally {
    watch.done();
    answers?.end();
    checkpoints.stop();
    const key = turn.idempotency?.key ?? null;
    const isStreamed = asked === "streamed";
    await storeReply(ctx, { accepted, agent, reply, key, isStreamed, checkpointed: checkpoints.begun }, log)
      .catch((error) => {
        throw inSession(error, sessionId);
      })
      .finally(() => {
        // Only after the reply is stored, because another turn could otherwise begin before it.
        lease.stop();
        letMemoryGo();
      });
  }
}

/** The signal of a client whose turn runs to its end whether it waits or not. */
const NEVER = new AbortController().signal;

/** Asks for a streamed answer, or for a whole one, which is heard in pieces. */
async function askModel(
  ownerId: string,
  model: Model,
  request: ModelRequest,
  asked: Asked,
  signal: AbortSignal,
  hear: Hear,
): Promise<ModelEnd> {
  if (asked === "streamed") return model.stream(request, signal, hear);
  const { text, ...end } = await model.complete(request, signal);
  await hearInPieces(ownerId, text, end.by, signal, hear);
  return end;
}

/** The failure, with the session it happened in: a client can continue there. */
function inSession(error: unknown, sessionId: string): unknown {
  const known = isUnreachableDatabase(error) ? databaseUnreachable(error) : error;
  return known instanceof ServiceError ? withMetadata(known, { session_id: sessionId }) : known;
}
