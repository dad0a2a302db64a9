import type { Clock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import type { Logger } from "../log.ts";
import type { Job } from "./store.ts";

/** What a run returns that lets its job go unfinished, for whichever process is free. */
export const HAND_OVER = Symbol("hand over");

export interface Queue {
  /**
   * Does the work; may run again after a crash, so it is idempotent. A returned time runs the job again then, `HAND_OVER` at once.
   * @param lease fires when another run may have taken the job: this one could not tell for a lease's time that it is alive
   */
  // biome-ignore lint/suspicious/noConfusingVoidType: most handlers simply end
  run(job: Job, lease: AbortSignal): Promise<Date | typeof HAND_OVER | void>;
  /** Something was asked for, of jobs that run already maybe. They run again in any case; this is for those in a hurry. */
  onAsked?(): void;
  /** At most this many at once in this process. */
  concurrency: number;
  /**
   * At most this many of one owner at once in this process, so that an owner whose jobs hang leaves places to the others; a
   * quarter of `concurrency` unless said otherwise. Jobs whose owner is '' are not counted.
   */
  perOwner?: number;
  /** A run that is silent for so long, milliseconds, is taken to be dead. */
  leaseMs: number;
  /** Milliseconds to wait after failed run number `attempts`; null gives up and keeps the row, with its error, to be looked at. */
  retryDelayMs(attempts: number): number | null;
}

export interface LoopContext {
  db: Database;
  name: string;
  queue: Queue;
  log: Logger;
  clock: Clock;
  pollMs: number;
}
