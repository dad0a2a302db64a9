import type { Clock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import type { Logger } from "../log.ts";
import { backOff } from "../retry/back-off.ts";
import type { Job } from "./store.ts";

/** Returned by a run to hand its unfinished job over to any free process. */
export const HAND_OVER = Symbol("hand over");

export interface Queue {
  /**
   * Does the work. May run again after a crash, so it must be idempotent. A returned time runs the job again then,
   * `HAND_OVER` at once.
   * @param lease fires when another run may have claimed the job, because this one could not renew its lease in time
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most handlers simply end
  run(job: Job, lease: AbortSignal): Promise<Date | typeof HAND_OVER | void>;
  /**
   * Called when jobs are enqueued that may be running already. They run again in any case; this is for runs that want
   * to know at once.
   */
  onAsked?(): void;
  /** The most jobs that run at once in this process. */
  concurrency: number;
  /**
   * The most jobs of one owner that run at once in this process, so that an owner whose jobs hang leaves places for
   * others; a quarter of `concurrency` by default. Jobs with the owner '' are not counted.
   */
  perOwner?: number;
  /** Milliseconds of silence after which a run counts as dead; `LEASE_MS` by default. */
  leaseMs?: number;
  /** Milliseconds to wait after failed run number `attempts`; `retryDelayMs` by default. */
  retryDelayMs?(attempts: number): number;
  /** The failed runs after which a job is given up. Its row stays, with its error, for inspection. By default, it never is. */
  attemptsMax?: number;
}

const LEASE_MS = 30_000;
/** From 1 s to 30 s: after an outage, work goes on within 30 s, and before, each job takes little. */
export const retryDelayMs = backOff(1_000, 30_000);

/** A queue with its defaults. */
export const withDefaults = (queue: Queue) => ({
  leaseMs: LEASE_MS,
  retryDelayMs,
  attemptsMax: Number.POSITIVE_INFINITY,
  ...queue,
});

export interface LoopContext {
  db: Database;
  name: string;
  queue: ReturnType<typeof withDefaults>;
  log: Logger;
  clock: Clock;
  pollMs: number;
}
