import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { CallEnd, CallKey } from "../store/calls.ts";
import { type DailySession, findDailySession, storeSessionEnd } from "../store/daily-sessions.ts";
import type { DailyContext } from "./context.ts";
import { sessionJob } from "./session.ts";

type EndContext = Pick<DailyContext, "db" | "clock">;

/** Ends a session that no process holds; its job completes the conversation and deletes the room. Does nothing if it has ended. */
export async function endSession(ctx: EndContext, session: CallKey, end: CallEnd): Promise<void> {
  await ctx.db.begin((tx) => settle(tx, ctx, session, { ...end, isToComplete: true }));
}

/**
 * Records the end of a call that a process held, which completes the conversation itself. The first end of a session counts.
 * @returns how it ended; null for a call of another kind
 */
export async function recordSessionEnd(ctx: EndContext, held: CallKey, end: CallEnd): Promise<CallEnd | null> {
  const session = await findDailySession(ctx.db, held);
  if (!session) return null;
  const ended = await ctx.db.begin((tx) => settle(tx, ctx, session, { ...end, isToComplete: false }));
  if (ended) return end;
  const before = await findDailySession(ctx.db, held);
  return before ? endOf(before) : end;
}

/** How an ended session ended. */
export function endOf({ outcome, durationSeconds, notes }: DailySession): CallEnd {
  return { outcome: outcome ?? "ERROR", durationSeconds: durationSeconds ?? 0, notes };
}

async function settle(
  tx: Sql,
  { clock }: EndContext,
  key: CallKey,
  end: CallEnd & { isToComplete: boolean },
): Promise<DailySession | null> {
  const ended = await storeSessionEnd(tx, key, end, clock.now());
  if (ended) await enqueueJob(tx, sessionJob(ended, clock.now()));
  return ended;
}
