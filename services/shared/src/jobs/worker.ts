import { type Clock, systemClock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import type { Logger } from "../log.ts";
import { observeBacklog } from "./backlog.ts";
import { listenForJobs } from "./listen.ts";
import { poll } from "./poll.ts";
import { HAND_OVER, type Queue, withDefaults } from "./queue.ts";
import { startQueueLoop } from "./queue-loop.ts";

export { HAND_OVER, type Queue };

export interface Worker {
  /** Claims no more jobs of these queues and waits for those that run. */
  stopQueues(names: readonly string[]): Promise<void>;
  /** Claims no more jobs and waits for those that run. */
  stop(): Promise<void>;
}

export interface WorkerSettings {
  clock?: Clock;
  /** How long a lost notification can delay a job, in milliseconds. */
  pollMs?: number;
  /** The database without a pooler, which would pass on no notifications; `db` by default. */
  direct?: Database;
}

const POLL_MS = 2_000;

/**
 * Runs the jobs of some queues: woken by inserts, by the jobs' times, and by polling in case a notification is lost.
 */
export function startWorker(
  db: Database,
  queues: Readonly<Record<string, Queue>>,
  log: Logger,
  { clock = systemClock, pollMs = POLL_MS, direct = db }: WorkerSettings = {},
): Worker {
  const loops = new Map(
    Object.entries(queues).map(([name, queue]) => [
      name,
      startQueueLoop({ db, name, queue: withDefaults(queue), log, clock, pollMs }),
    ]),
  );
  // One statement tells which queues have something to claim, where a claim of each would take a connection each.
  const polling = poll({
    db,
    queues: [...loops.keys()],
    log,
    clock,
    pollMs,
    onClaimable: (queue) => loops.get(queue)?.claim(),
  });
  let stopped = false;
  const listening = listenForJobs(db, direct, log, {
    retryMs: pollMs,
    onJob: (queue) => loops.get(queue)?.wake(),
    onGap: () => {
      if (stopped) return;
      for (const queue of Object.values(queues)) queue.onAsked?.();
      polling.ask();
    },
  });
  const unobserve = observeBacklog(db, Object.keys(queues), clock);
  return {
    stopQueues: async (names) => {
      await Promise.all(names.map((name) => loops.get(name)?.stop()));
    },
    stop: async () => {
      stopped = true;
      unobserve();
      await Promise.all([polling, ...loops.values()].map((each) => each.stop()));
      await listening.stop();
    },
  };
}
