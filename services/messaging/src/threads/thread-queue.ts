import type { Sql } from "@parley/shared/db/database";
import { enqueueJobs } from "@parley/shared/jobs/store";
import { HAND_OVER, type Queue } from "@parley/shared/jobs/worker";
import type { ThreadContext } from "../context.ts";
import type { ThreadKey } from "../store/threads.ts";
import { sendNext } from "./send-next.ts";
import { takeTurn } from "./take-turn.ts";

const QUEUE = "threads";
/** Threads that a process works on at a time. Most of the time they wait for a model. */
const CONCURRENCY = 256;
const PER_OWNER = 32;
const LEASE_MS = 15_000;

/** Enqueues work on threads, in the transaction that creates the work. */
export async function enqueueThreads(sql: Sql, threads: readonly (ThreadKey & { dueAt: Date })[]): Promise<void> {
  await enqueueJobs(
    sql,
    threads.map(({ ownerId, carrierId, contact, dueAt }) => {
      return { ownerId, jobId: `${carrierId} ${contact}`, queue: QUEUE, payload: { carrierId, contact }, dueAt };
    }),
  );
}

/**
 * One job for each thread: its lease makes one process work on it, so a person's messages are answered one turn after the other,
 * and replies are sent in order.
 */
export function threadQueue(ctx: ThreadContext, stopping: AbortSignal): Record<string, Queue> {
  const queue: Queue = {
    concurrency: CONCURRENCY,
    perOwner: PER_OWNER,
    leaseMs: LEASE_MS,
    run: async ({ ownerId, payload }, lease) => {
      const { carrierId, contact } = payload as Omit<ThreadKey, "ownerId">;
      const key = { ownerId, carrierId, contact };
      const gone = AbortSignal.any([lease, stopping]);
      try {
        for (;;) {
          if (gone.aborted) return HAND_OVER;
          const sent = await sendNext(ctx, key, gone);
          if (sent === "done") continue;
          const taken = await takeTurn(ctx, key, gone);
          if (taken !== "done") return earlier(sent, taken);
        }
      } catch (error) {
        // Work in progress is durable: another process continues it.
        if (gone.aborted) return HAND_OVER;
        throw error;
      }
    },
  };
  return { [QUEUE]: queue };
}

function earlier(one: Date | null, other: Date | null): Date | undefined {
  if (one && other) return one < other ? one : other;
  return one ?? other ?? undefined;
}
