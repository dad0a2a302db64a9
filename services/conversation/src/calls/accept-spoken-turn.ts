import type { SpokenTurn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { ConversationContext } from "../context.ts";
import type { ConversationRow } from "../store/conversations.ts";
import { findStoredMessage, type NewSpokenTurn, takeResultTurn, takeSpokenTurn } from "../store/turns/spoken-turns.ts";
import type { AcceptedTurn } from "../turn/accept-turn.ts";
import { byteBudget } from "../turn/ask/context-window.ts";
import { readCall } from "./read-call.ts";
import { checkContent, gap, timeOf, withLastSequence } from "./transcript.ts";

/** A turn to run, or one that has nothing to do, because its reply is already stored. */
type AcceptedSpokenTurn = { type: "run"; accepted: AcceptedTurn } | { type: "stored"; lastSequence: number };

/**
 * Claims a call's turn and stores what the user said.
 * @param row the call's conversation
 * @throws ServiceError invalid, condition (a message is missing, or the call has ended) or conflict (another reply is
 * in progress, or the sequence is stored with different text); all but the first have `last_sequence`
 */
export async function acceptSpokenTurn(
  ctx: ConversationContext,
  turn: SpokenTurn,
  row: ConversationRow,
): Promise<AcceptedSpokenTurn> {
  const now = ctx.clock.now();
  const { ownerId, conversationId } = row;
  if (turn.answersResults) return acceptResultTurn(ctx, turn, row);
  const { sequence: seq } = turn;
  if (seq < 1) throw invalid("turn.sequence", "turn.sequence must be one more than the last sequence");
  const fields: NewSpokenTurn = {
    ownerId,
    conversationId,
    turnId: newUuid(),
    seq,
    text: checkContent("turn.text", turn.text),
    saidAt: timeOf("turn.said_at", turn.saidAt) ?? now,
    startedAt: timeOf("turn.started_at", turn.startedAt) ?? null,
    now,
    until: new Date(now.getTime() + ctx.limits.turnLeaseMs),
  };
  const taken = await takeSpokenTurn(ctx.db, fields, byteBudget(ctx.limits.contextTokens));
  if (!taken) return refuse(ctx, fields);
  return {
    type: "run",
    accepted: { ownerId, conversationId, turnId: fields.turnId, seq, replySeq: seq + 1, ...taken },
  };
}

const TOLD_MAX = 1_000;

/** Claims a turn without words of the user. */
async function acceptResultTurn(
  ctx: ConversationContext,
  { sequence, told }: SpokenTurn,
  { ownerId, conversationId }: ConversationRow,
): Promise<AcceptedSpokenTurn> {
  const now = ctx.clock.now();
  if (sequence < 2)
    throw invalid("turn.sequence", "turn.sequence must be that of the reply, one more than the last sequence");
  if (told !== undefined && (told === "" || told.length > TOLD_MAX))
    throw invalid("turn.told", `turn.told must be 1 to ${TOLD_MAX} characters`);
  const turn = { ownerId, conversationId, turnId: newUuid(), replySeq: sequence };
  const until = new Date(now.getTime() + ctx.limits.turnLeaseMs);
  const taken = await takeResultTurn(ctx.db, turn, now, until);
  if (taken) return { type: "run", accepted: { ...turn, seq: sequence - 1, ...taken, earlier: null } };
  const { status, messageCount } = await readCall(ctx, turn);
  if (status === "IN_PROGRESS" && messageCount >= sequence) return { type: "stored", lastSequence: messageCount };
  const ended = new ServiceError("condition", `Conversation has ended: it is ${status}`);
  throw withLastSequence(status === "IN_PROGRESS" ? gap(messageCount + 1, sequence) : ended, messageCount);
}

async function refuse(ctx: ConversationContext, turn: NewSpokenTurn): Promise<AcceptedSpokenTurn> {
  const { status, messageCount } = await readCall(ctx, turn);
  const refusal = (error: ServiceError) => withLastSequence(error, messageCount);
  if (status !== "IN_PROGRESS") {
    throw refusal(new ServiceError("condition", `Conversation has ended: it is ${status}`));
  }
  if (turn.seq > messageCount + 1) throw refusal(gap(messageCount + 1, turn.seq));
  if (turn.seq === messageCount + 1) {
    throw refusal(new ServiceError("conflict", "A reply is in progress in this conversation. Wait for it to end."));
  }
  const stored = await findStoredMessage(ctx.db, turn, turn.seq);
  if (stored?.role === "user" && stored.content === turn.text) return { type: "stored", lastSequence: messageCount };
  throw refusal(new ServiceError("conflict", `Message ${turn.seq} is stored with different text`));
}
