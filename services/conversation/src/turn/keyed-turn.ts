import type { Idempotency } from "@parley/proto/parley/common/v1/common.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { isSure } from "@parley/shared/clock";
import { cancelled, notFound, ServiceError } from "@parley/shared/errors";
import { decided, KEPT_MS, storedErrorOf, usedOtherwise } from "@parley/shared/idempotency/run";
import { newUuid } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import { findConversation } from "../store/conversations.ts";
import { findMessage } from "../store/messages.ts";
import {
  bindTurnKey,
  deleteExpiredTurnKeys,
  findTurnKey,
  isTurnKeyDone,
  retakeTurn,
  type StoredTurn,
  storeTurnRefusal,
  type TurnKey,
  takeTurnKey,
} from "../store/turn-keys.ts";
import { type Acceptance, type AcceptedTurn, acceptTurn, type PreparedTurn, prepareTurn } from "./accept-turn.ts";

/** How often a request looks whether the one before it, with the same key, is through. */
const LOOK_MS = 150;

/**
 * Accepts the turn of a request with an idempotency key (docs/api-reference.md#idempotency). A turn that succeeded is replayed, one
 * that still runs is awaited, and one that failed runs again on the user message that is already stored.
 * @throws ServiceError invalid when the key came with another request; the same refusal each time if the turn was refused
 */
export async function acceptKeyedTurn(
  ctx: ConversationContext,
  turn: Turn,
  idempotency: Idempotency,
  call: Call,
): Promise<Acceptance> {
  const key = { ownerId: turn.ownerId, key: idempotency.key };
  if (isSure(ctx.clock)) await deleteExpiredTurnKeys(ctx.db, expiry(ctx));
  for (;;) {
    const known = await findTurnKey(ctx.db, key, ctx.clock.now(), expiry(ctx));
    const taken = known ? { stored: known } : await takeKey(ctx, turn, idempotency, call);
    if (!("stored" in taken)) return { type: "run", ...taken };
    const { stored } = taken;
    if (!stored.fingerprint.equals(idempotency.fingerprint)) throw usedOtherwise();
    if (stored.error) {
      call.replayed = true;
      throw new ServiceError(stored.error.kind, stored.error.detail, stored.error);
    }
    if (stored.done) return replay(ctx, turn.ownerId, stored);
    const again = stored.held ? null : await retake(ctx, turn, key, stored, call);
    if (again) return again;
    if (call.signal.aborted) throw cancelled();
    await Bun.sleep(LOOK_MS);
  }
}

interface Refused {
  refusal: ServiceError;
}

type Taken = { prepared: PreparedTurn; accepted: AcceptedTurn } | { stored: StoredTurn };

/**
 * The first request with a key stores its user message, or its refusal, together with the key. Several may prepare the turn at once,
 * which writes nothing; the transaction makes one of them the first.
 */
async function takeKey(ctx: ConversationContext, turn: Turn, idempotency: Idempotency, call: Call): Promise<Taken> {
  const key = { ownerId: turn.ownerId, key: idempotency.key };
  const prepared = await decided(prepareTurn(ctx, turn, call));
  const outcome = await ctx.db.begin(async (tx): Promise<Taken | Refused> => {
    const stored = await takeTurnKey(tx, key, idempotency.fingerprint, ctx.clock.now(), expiry(ctx));
    if (stored) return { stored };
    const refuse = async ({ refusal }: Refused) => {
      await storeTurnRefusal(tx, key, storedErrorOf(refusal));
      return { refusal };
    };
    if ("refusal" in prepared) return refuse(prepared);
    const accepted = await decided(tx.savepoint((nested) => acceptTurn(ctx, turn, nested)) as Promise<AcceptedTurn>);
    if ("refusal" in accepted) return refuse(accepted);
    await bindTurnKey(tx, key, accepted.value);
    return { prepared: prepared.value, accepted: accepted.value };
  });
  if ("refusal" in outcome) throw outcome.refusal;
  return outcome;
}

async function retake(
  ctx: ConversationContext,
  turn: Turn,
  key: TurnKey,
  { conversationId, userSeq }: StoredTurn,
  call: Call,
): Promise<Acceptance | null> {
  if (conversationId === null || userSeq === null) throw new Error("a turn key was committed without its turn");
  const open = { ownerId: turn.ownerId, conversationId, turnId: newUuid() };
  // Before the turn is taken: what keeps the agent from answering must not hold the session.
  const prepared = await prepareTurn(ctx, turn, call);
  const now = ctx.clock.now();
  const retaken = await retakeTurn(ctx.db, key, open, now, new Date(now.getTime() + ctx.limits.turnLeaseMs));
  if (retaken) return { type: "run", prepared, accepted: { ...open, seq: userSeq, earlier: null, ...retaken } };
  const session = await findConversation(ctx.db, open, now);
  if (!session) throw notFound("Session");
  const isOver = session.status !== "IN_PROGRESS" && !(await isTurnKeyDone(ctx.db, key));
  if (isOver) throw new ServiceError("condition", "Session has ended", { metadata: { session_id: conversationId } });
  return null;
}

async function replay(ctx: ConversationContext, ownerId: string, stored: StoredTurn): Promise<Acceptance> {
  const conversationId = stored.conversationId ?? "";
  const key = { ownerId, conversationId };
  if (!(await findConversation(ctx.db, key, ctx.clock.now()))) throw notFound("Session");
  const reply = stored.replySeq === null ? null : await findMessage(ctx.db, key, stored.replySeq);
  return { type: "replay", sessionId: conversationId, text: reply?.content ?? "" };
}

function expiry(ctx: ConversationContext): Date {
  return new Date(ctx.clock.now().getTime() - KEPT_MS);
}
