import type { Idempotency } from "@parley/proto/parley/common/v1/common.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { notFound, ServiceError } from "@parley/shared/errors";
import { type IdempotencyKey, keysExpiredAt, refuseOtherRequest, takeKey } from "@parley/shared/idempotency/keys";
import { oneWaiter } from "@parley/shared/idempotency/one-waiter";
import { decided } from "@parley/shared/idempotency/run";
import { fromStoredError, toStoredError } from "@parley/shared/idempotency/store";
import { newUuid } from "@parley/shared/ids";
import { parseObject } from "@parley/shared/json/json-object";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import { systemValues } from "../start/system-values.ts";
import { keptOf } from "../store/agent-path.ts";
import { type ConversationRow, findConversation } from "../store/conversations.ts";
import { findMessage } from "../store/messages.ts";
import { listHandedCalls } from "../store/turns/handed-calls.ts";
import {
  bindTurnKey,
  endTurnKey,
  findTurnKey,
  isTurnKeyDone,
  retakeTurn,
  type StoredTurn,
  storeTurnRefusal,
  TURN_KEYS,
} from "../store/turns/turn-keys.ts";
import { type ClientCall, clientCall } from "../tools/client-calls.ts";
import { toolboxOf } from "../tools/toolbox.ts";
import { type Acceptance, type AcceptedTurn, acceptTurn, answeredBefore, leftToOperator } from "./accept-turn.ts";
import { type Alone, type PreparedTurn, prepareTurn } from "./prepare-turn.ts";

/** How often a key's requests check whether the one before them has ended. */
const LOOK_MS = 150;
/** A turn with a key already runs alone until it is accepted. */
const here: Alone = (run) => run();
/** Shared by all requests of a key: there may be many while a model is slow. */
const waiter = oneWaiter(() => Bun.sleep(LOOK_MS));

/**
 * Accepts the turn of a request with an idempotency key (docs/api-reference.md#idempotency). If an earlier turn with the
 * key succeeded, replays it; if it is running, waits for it; if it failed, runs again on the stored user message.
 * @throws ServiceError invalid when the key was used for another request; the same refusal each time if the turn was refused
 */
export async function acceptKeyedTurn(
  ctx: ConversationContext,
  turn: Turn,
  idempotency: Idempotency,
  call: Call,
): Promise<Acceptance> {
  const key = { ownerId: turn.ownerId, key: idempotency.key };
  for (;;) {
    // All requests of a key continue when the one before them ends.
    const look = () => acceptNow(ctx, turn, idempotency, call);
    const acceptance = await ctx.turnShares.alone(turn.ownerId, call.signal, look);
    if (acceptance) return acceptance;
    const isOver = async () => !(await isInProgress(ctx, key));
    await waiter.wait(turn.ownerId, idempotency.key, isOver, call.signal);
  }
}

/** @returns null while an earlier turn with the key is running */
async function acceptNow(
  ctx: ConversationContext,
  turn: Turn,
  idempotency: Idempotency,
  call: Call,
): Promise<Acceptance | null> {
  const key = { ownerId: turn.ownerId, key: idempotency.key };
  const known = await find(ctx, key);
  const taken = known ? { stored: known } : await acceptFirst(ctx, turn, idempotency, call);
  if ("nothing" in taken) return answeredBefore(taken.nothing);
  if ("operators" in taken) return leftToOperator(taken.operators);
  if (!("stored" in taken)) return { type: "run", ...taken };
  const { stored } = taken;
  refuseOtherRequest(stored.fingerprint, idempotency.fingerprint);
  if (stored.error) {
    call.replayed = true;
    throw fromStoredError(stored.error);
  }
  if (stored.done) return replay(ctx, turn, stored);
  return stored.held ? null : retake(ctx, turn, key, stored, call);
}

async function isInProgress(ctx: ConversationContext, key: IdempotencyKey): Promise<boolean> {
  const stored = await find(ctx, key);
  return stored?.held === true && !stored.done;
}

interface Refused {
  refusal: ServiceError;
}

/** `nothing`: the session whose client gave results that need no answer; `operators`: the one in which an operator answers. */
type Taken =
  | { prepared: PreparedTurn; accepted: AcceptedTurn }
  | { stored: StoredTurn }
  | { nothing: string }
  | { operators: string };

/**
 * Stores the first request's user message, or its refusal, together with the key. Several requests may prepare the turn
 * concurrently, which writes nothing; the transaction decides which one is first.
 */
async function acceptFirst(ctx: ConversationContext, turn: Turn, idempotency: Idempotency, call: Call): Promise<Taken> {
  const key = { ownerId: turn.ownerId, key: idempotency.key };
  const prepared = await decided(prepareTurn(ctx, turn, call, here));
  const outcome = await ctx.db.begin(async (tx): Promise<Taken | Refused> => {
    const now = ctx.clock.now();
    const isTaken = await takeKey(tx, TURN_KEYS, key, idempotency.fingerprint, now);
    const stored = isTaken ? null : await findTurnKey(tx, key, now, keysExpiredAt(now));
    if (stored) return { stored };
    const refuse = async ({ refusal }: Refused) => {
      await storeTurnRefusal(tx, key, toStoredError(refusal));
      return { refusal };
    };
    if ("refusal" in prepared) return refuse(prepared);
    const accepted = await decided(tx.savepoint((nested) => acceptTurn(ctx, turn, prepared.value, here, nested)));
    if ("refusal" in accepted) return refuse(accepted);
    if (accepted.value === null) {
      const { sessionId = "" } = turn;
      await endTurnKey(tx, key, sessionId, null);
      return { nothing: sessionId };
    }
    const { isQuiet, conversationId, seq } = accepted.value;
    if (isQuiet) {
      await endTurnKey(tx, key, conversationId, seq);
      return { operators: conversationId };
    }
    await bindTurnKey(tx, key, accepted.value);
    return { prepared: prepared.value, accepted: accepted.value };
  });
  if ("refusal" in outcome) throw outcome.refusal;
  return outcome;
}

async function retake(
  ctx: ConversationContext,
  turn: Turn,
  key: IdempotencyKey,
  { conversationId, userSeq }: StoredTurn,
  call: Call,
): Promise<Acceptance | null> {
  if (conversationId === null || userSeq === null) throw new Error("a turn key was committed without its turn");
  const open = { ownerId: turn.ownerId, conversationId, turnId: newUuid() };
  // Done before the turn is taken, so that an agent that cannot answer does not block the session.
  const prepared = await prepareTurn(ctx, turn, call, here, false);
  const now = ctx.clock.now();
  const retaken = await retakeTurn(ctx.db, key, open, now, new Date(now.getTime() + ctx.limits.turnLeaseMs));
  if (retaken)
    return { type: "run", prepared, accepted: { ...open, seq: userSeq, earlier: null, ...retaken, ...roundsOf(turn) } };
  const session = await findConversation(ctx.db, open, now);
  if (!session) throw notFound("Session");
  const isOver = session.status !== "IN_PROGRESS" && !(await isTurnKeyDone(ctx.db, key));
  if (isOver) throw new ServiceError("condition", "Session has ended", { metadata: { session_id: conversationId } });
  return null;
}

/** A turn with results has had a request to the model at least. */
function roundsOf({ toolResults }: Turn): Pick<AcceptedTurn, "roundsBefore"> {
  return { roundsBefore: toolResults.length > 0 ? 1 : 0 };
}

async function replay(ctx: ConversationContext, turn: Turn, stored: StoredTurn): Promise<Acceptance> {
  const conversationId = stored.conversationId ?? "";
  const key = { ownerId: turn.ownerId, conversationId };
  const session = await findConversation(ctx.db, key, ctx.clock.now());
  if (!session) throw notFound("Session");
  const { replySeq, userSeq } = stored;
  const isOperators = replySeq === null && userSeq !== null;
  const replayed = { ...answeredBefore(conversationId), replayed: true, isOperators };
  if (replySeq === null) return replayed;
  const reply = await findMessage(ctx.db, key, replySeq);
  const clientCalls = await callsAgain(ctx, session, replySeq);
  return { ...replayed, replySeq, text: reply?.content ?? "", knowledge: reply?.knowledge ?? null, clientCalls };
}

/** What the client got before, with the arguments that it would get now. */
async function callsAgain(ctx: ConversationContext, session: ConversationRow, seq: number): Promise<ClientCall[]> {
  const calls = await listHandedCalls(ctx.db, session, seq);
  if (calls.length === 0) return [];
  const agent = await ctx.agents.get(session.ownerId, session.agentId, keptOf(session));
  const variables = { ...session.variables, ...(await systemValues(ctx, session, agent)) };
  const toolbox = toolboxOf(agent, "chat", ctx.toolSources);
  return calls.map(({ toolCallId, name, arguments: json }) => {
    const { client, rules } = toolbox.find(name) ?? {};
    const input = parseObject(json) ?? {};
    const given = client?.argumentsOf(input, variables);
    const timeoutMs = client?.wait === false ? null : (rules?.timeoutMs ?? 0);
    return clientCall(toolCallId, name, JSON.stringify(typeof given === "object" ? given : input), timeoutMs);
  });
}

function find({ db, clock }: ConversationContext, key: IdempotencyKey): Promise<StoredTurn | null> {
  const now = clock.now();
  return findTurnKey(db, key, now, keysExpiredAt(now));
}
