import { batched } from "../rpc/batched.ts";
import { claimJobs } from "./claim.ts";
import type { LoopContext } from "./queue.ts";
import { runJob } from "./run-job.ts";
import { findNextClaimable, finishJobs, type Job, leaseEnd } from "./store.ts";

interface QueueLoop {
  /** Call it when a job may have been enqueued. */
  wake(): void;
  /** Call it when a job is due, or will be soon. */
  claim(): void;
  stop(): Promise<void>;
}

/** Jobs claimed in one statement; few, so that replicas share those that become due together. */
const CLAIM_MAX = 32;
/** Runs whose ends are stored in one statement: one commit each would cost more than a short run. */
const FINISHED_MAX = 100;
/** The longest that a timer waits. */
const TIMER_MAX_MS = 2 ** 31 - 1;
/** How often a claim is repeated at once when processes claimed the same jobs at the same moment. */
const CONTESTED_MAX = 2;

/**
 * Claims and runs one queue's jobs, as many at once as it allows, and sleeps until the next one's time. It claims nothing until it
 * is told to, and does not poll: its worker does, for all of its queues.
 */
export function startQueueLoop(ctx: LoopContext): QueueLoop {
  const { db, name, queue, log, clock, pollMs } = ctx;
  const perOwner = queue.perOwner ?? Math.max(1, Math.floor(queue.concurrency / 4));
  const running = new Set<Promise<void>>();
  const runningOf = new Map<string, number>();
  /** The owner served last. */
  let last = "";
  const finish = batched(async (jobs: readonly Job[]) => {
    await finishJobs(db, jobs);
    return jobs.map(() => undefined);
  }, FINISHED_MAX);
  let claiming: Promise<void> | null = null;
  /** Counts the calls of `wake` and `claim`. */
  let asked = 0;
  /** Whether the last claim left due jobs, for which the end of a run makes room. */
  let mayHaveMore = false;
  let wokenMeanwhile = false;
  let stopped = false;
  let timer: Timer | undefined;
  /** When it fires, in `performance.now()` time. */
  let timerAt = Number.POSITIVE_INFINITY;

  function claim(): void {
    if (stopped) return;
    if (claiming) {
      wokenMeanwhile = true;
      return;
    }
    sleep(null);
    claiming = fill().then((sleepMs) => {
      claiming = null;
      if (stopped) return;
      if (wokenMeanwhile) {
        wokenMeanwhile = false;
        claim();
      } else sleep(sleepMs);
    });
  }

  /** @param ms until the next claim; null until somebody asks for one */
  function sleep(ms: number | null): void {
    clearTimeout(timer);
    timerAt = performance.now() + (ms ?? Number.POSITIVE_INFINITY);
    if (ms !== null) timer = setTimeout(claim, ms);
  }

  /** Claims until every place is taken or nothing is due. @returns how long to sleep; null until somebody wakes it */
  async function fill(): Promise<number | null> {
    try {
      let looked = false;
      for (let contestedTimes = 0; !stopped; ) {
        const places = Math.min(queue.concurrency - running.size, CLAIM_MAX);
        if (places <= 0) {
          mayHaveMore ||= !looked;
          break;
        }
        const askedBefore = asked;
        const now = clock.now();
        const heldUntil = performance.now() + queue.leaseMs;
        const shares = { perOwner, running: runningOf, last };
        const { jobs, contested, more, nextAt } = await claimJobs(db, {
          queue: name,
          now,
          leaseMs: queue.leaseMs,
          limit: places,
          shares,
        });
        // This process or Postgres paused in the meantime: others may have claimed the jobs, and the next claim may too.
        if (clock.now().getTime() - now.getTime() >= queue.leaseMs) continue;
        looked = true;
        mayHaveMore = more;
        for (const job of jobs) start(job, heldUntil, askedBefore);
        last = jobs.at(-1)?.ownerId ?? last;
        if (more && jobs.length === places) continue;
        if (contested && contestedTimes++ < CONTESTED_MAX) continue;
        // A concurrent claim's jobs come back when its leases end, and this one's when its own do.
        const next = contested ? await findNextClaimable(db, name, now) : nextAt;
        return sleepMs(jobs.length > 0 ? earlier(next, leaseEnd(now, queue.leaseMs)) : next);
      }
    } catch (err) {
      log.warn({ err, queue: name }, "cannot claim jobs, will retry");
      return pollMs;
    }
    return null;
  }

  function sleepMs(next: Date | null): number | null {
    // A due job that was not claimed is locked by a transaction whose end is notified, or waits for its owner's running
    // jobs.
    if (!next) return null;
    return Math.min(TIMER_MAX_MS, Math.max(1, next.getTime() - clock.now().getTime()));
  }

  function start(job: Job, heldUntil: number, askedBefore: number): void {
    const run = runJob({ ...ctx, finish }, job, heldUntil).then((againAt) => {
      running.delete(run);
      countRunning(job, -1);
      if (mayHaveMore || claiming || asked !== askedBefore) claim();
      // Nothing else has become due: what is enqueued is told.
      else if (againAt && !stopped) wakeBy(againAt);
    });
    running.add(run);
    countRunning(job, 1);
  }

  function wakeBy(moment: Date): void {
    const ms = sleepMs(moment) ?? 0;
    if (performance.now() + ms < timerAt) sleep(ms);
  }

  function countRunning({ ownerId }: Job, more: number): void {
    const count = (runningOf.get(ownerId) ?? 0) + more;
    if (count > 0 && ownerId !== "") runningOf.set(ownerId, count);
    else runningOf.delete(ownerId);
  }

  return {
    wake: () => {
      asked++;
      if (!stopped) queue.onAsked?.();
      claim();
    },
    claim: () => {
      asked++;
      claim();
    },
    stop: async () => {
      stopped = true;
      sleep(null);
      await claiming;
      await Promise.all(running);
    },
  };
}

function earlier(one: Date | null, other: Date): Date {
  return one && one < other ? one : other;
}
