import type { ClientResult } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { invalid } from "@parley/shared/errors";
import type { ConversationContext } from "../context.ts";
import { findHandedCalls, type HandedRow } from "../store/turns/handed-calls.ts";
import { lockWaitingSession, takeResults } from "../store/turns/take-results.ts";
import type { NewTurn, TakenTurn } from "../store/turns/take-turns.ts";
import { endToolCall } from "../store/turns/tool-ledger.ts";
import { endOfHanded } from "../tools/client-calls.ts";
import { countEnd } from "../tools/make-call.ts";

/** What results lead to: a turn that goes on, nothing, or a refusal like that of a message. */
export type AcceptedResults = { type: "run"; taken: TakenTurn } | { type: "nothing" } | { type: "refused" };

/**
 * Stores the results that a client gives, and takes the turn when the model waits for no further ones. Results for calls that have
 * ended are ignored. A result that comes too late, or never, is an error for the model.
 * @throws ServiceError invalid when an id names no call that the session's client makes
 */
export async function acceptResults(
  ctx: Pick<ConversationContext, "clock">,
  turn: NewTurn,
  results: readonly ClientResult[],
  tx: Sql,
): Promise<AcceptedResults> {
  const session = await lockWaitingSession(tx, turn);
  if (!session) return { type: "refused" };
  const given = new Map(results.toReversed().map((result) => [result.toolCallId, result]));
  const calls = await findHandedCalls(tx, turn, [...given.keys()]);
  const known = new Set(calls.map(({ toolCallId }) => toolCallId));
  for (const [at, { toolCallId }] of results.entries()) {
    const path = `tool_results.${at}.tool_call_id`;
    if (!known.has(toolCallId)) throw invalid(path, `${path} names no call that this session's client makes`);
  }
  const open = calls.filter(({ state }) => state === "RUNNING");
  if (session.isHeld) return { type: open.some(({ toolCallId }) => given.has(toolCallId)) ? "refused" : "nothing" };
  const now = ctx.clock.now();
  const isLate = ({ answerBy }: HandedRow) => answerBy !== null && answerBy < now;
  const ended = open.filter((call) => isLate(call) || given.has(call.toolCallId));
  for (const call of ended) {
    const end = endOfHanded(call, given.get(call.toolCallId), now);
    await endToolCall(tx, { ...turn, toolCallId: call.toolCallId }, end, now);
    countEnd("client", end.state, now.getTime() - call.handedAt.getTime());
  }
  const waited = calls.filter(({ answerBy }) => answerBy !== null);
  const seq = Math.max(0, ...waited.map((call) => call.seq));
  // With a later message, the model has been told before.
  const isTold = ended.length === 0 && seq < session.messageCount;
  if (ended.length < open.length || isTold) return { type: "nothing" };
  const roundsBefore = Math.max(...waited.filter((call) => call.seq === seq).map(({ round }) => round));
  return { type: "run", taken: { ...(await takeResults(tx, turn, seq)), earlier: null, roundsBefore } };
}
