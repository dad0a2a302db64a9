import type { Queue } from "@parley/shared/jobs/worker";
import { backOff } from "@parley/shared/retry/back-off";
import type { CallEnd } from "../call/port.ts";
import type { CallSignals } from "../call/signals.ts";
import { endSession } from "../daily/end-session.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { endCall } from "../outbound/end-call.ts";
import type { Recordings } from "../recording/recordings.ts";
import { cancelBatchesOf, deleteBatchesOf } from "../store/call-batches.ts";
import { listOpenSessions } from "../store/daily-sessions.ts";
import { isHeld, listUnended } from "../store/outbound-calls.ts";
import {
  deleteDoNotCallOf,
  deleteIncomingCallsOf,
  deleteTrunksOf,
  deleteWebCallsOf,
  listCallsOf,
  listRecordingsOf,
} from "../store/owner-rows.ts";

export interface ForgetContext extends Pick<OutboundContext, "db" | "clock"> {
  signals: Pick<CallSignals, "tell">;
  recordings: Pick<Recordings, "remove">;
}

const QUEUE = "forget-owner";
const RETRY_MAX_MS = 5 * 60_000;
const LEASE_MS = 60_000;
const ROWS = 1_000;
/** Each may have 10,000 numbers. */
const BATCHES = 10;
/** The end of a call that no process holds. */
const END: CallEnd = { outcome: "CANCELLED", durationSeconds: 0, notes: "The account was deleted" };

export function forgetJob(ownerId: string, dueAt: Date) {
  return { ownerId, jobId: QUEUE, queue: QUEUE, payload: {}, dueAt };
}

/**
 * Ends the calls of deleted owners, and deletes what is kept of them beside conversations: batches, do-not-call lists, recordings, how
 * their trunks stand. Their ended calls are deleted with the conversations, at the latest after 30 days.
 */
export function forgetOwners(ctx: ForgetContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      leaseMs: LEASE_MS,
      retryDelayMs: backOff(2_000, RETRY_MAX_MS),
      run: async ({ ownerId }, lease) => {
        await endAll(ctx, ownerId);
        await deleteAll(ctx, ownerId, lease);
      },
    },
  };
}

async function endAll(ctx: ForgetContext, ownerId: string): Promise<void> {
  const { db, clock, signals } = ctx;
  // First, so that no further numbers enter the queue.
  await cancelBatchesOf(db, ownerId, clock.now());
  for (const call of await listUnended(db, ownerId)) if (!(await isHeld(db, call))) await endCall(ctx, call, END);
  for (const session of await listOpenSessions(db, ownerId))
    if (!(await isHeld(db, session))) await endSession(ctx, session, END);
  for (const call of await listCallsOf(db, ownerId)) await signals.tell(call, "hang_up");
}

async function deleteAll({ db, recordings }: ForgetContext, ownerId: string, lease: AbortSignal): Promise<void> {
  const all = async (full: number, next: () => Promise<number>) => {
    while ((await next()) === full) lease.throwIfAborted();
  };
  await all(BATCHES, () => deleteBatchesOf(db, ownerId, BATCHES));
  await all(ROWS, () => deleteDoNotCallOf(db, ownerId, ROWS));
  await all(ROWS, () => deleteIncomingCallsOf(db, ownerId, ROWS));
  await all(ROWS, () => deleteWebCallsOf(db, ownerId, ROWS));
  await deleteTrunksOf(db, ownerId);
  await all(ROWS, async () => {
    const ids = await listRecordingsOf(db, ownerId, ROWS);
    await recordings.remove(ownerId, ids);
    return ids.length;
  });
}
