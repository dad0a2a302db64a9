import { type Clock, systemClock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import type { Logger } from "../log.ts";
import { claimJobs, deleteJob, extendLease, findNextDue, type Job, rescheduleJob } from "./store.ts";

export interface Queue {
  /** Does the work; may run again after a crash, so it is idempotent. A returned time runs the job again then. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most handlers simply end
  run(job: Job): Promise<Date | void>;
  /** At most this many at once in this process. */
  concurrency: number;
  /** A run that is silent for so long is taken to be dead. */
  leaseMs: number;
  /** Milliseconds to wait after failed run number `attempts`; null gives up and keeps the row, with its error, to be looked at. */
  retryDelayMs(attempts: number): number | null;
}

export interface Worker {
  /** Claims nothing more and waits for what runs. */
  stop(): Promise<void>;
}

/** How long a lost notification can delay a job. */
const POLL_MS = 2_000;

/** Runs the jobs of some queues: woken by inserts, by their times, and by a poll should a notification get lost. */
export function startWorker(
  db: Database,
  queues: Readonly<Record<string, Queue>>,
  log: Logger,
  clock: Clock = systemClock,
): Worker {
  const loops = Object.entries(queues).map(([name, queue]) => new QueueLoop(db, name, queue, log, clock));
  const listening = listen(db, (queue) => {
    for (const loop of loops) if (queue === null || loop.name === queue) loop.wake();
  });
  for (const loop of loops) loop.wake();
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
      await (await listening)?.unlisten().catch(() => {});
    },
  };
}

class QueueLoop {
  readonly name: string;
  readonly #db: Database;
  readonly #queue: Queue;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #running = new Set<Promise<void>>();
  #claiming: Promise<void> | null = null;
  #again = false;
  #stopped = false;
  #timer: Timer | undefined;

  constructor(db: Database, name: string, queue: Queue, log: Logger, clock: Clock) {
    this.name = name;
    this.#db = db;
    this.#queue = queue;
    this.#log = log;
    this.#clock = clock;
  }

  wake(): void {
    if (this.#stopped) return;
    if (this.#claiming) {
      this.#again = true;
      return;
    }
    clearTimeout(this.#timer);
    this.#claiming = this.#fill().finally(() => {
      this.#claiming = null;
      if (this.#again) {
        this.#again = false;
        this.wake();
      }
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#claiming;
    await Promise.all(this.#running);
  }

  /** Claims until every place is taken or nothing is due, then sleeps till something will be. */
  async #fill(): Promise<void> {
    let sleepMs = POLL_MS;
    try {
      while (!this.#stopped) {
        const places = this.#queue.concurrency - this.#running.size;
        if (places <= 0) break;
        const jobs = await claimJobs(this.#db, this.name, this.#clock.now(), this.#queue.leaseMs, places);
        for (const job of jobs) this.#start(job);
        if (jobs.length < places) break;
      }
      const next = await findNextDue(this.#db, this.name);
      if (next) sleepMs = Math.min(POLL_MS, Math.max(1, next.getTime() - this.#clock.now().getTime()));
    } catch (err) {
      this.#log.warn({ err, queue: this.name }, "jobs cannot be claimed, will try again");
    }
    // With every place taken the end of a run wakes the loop.
    if (this.#running.size >= this.#queue.concurrency) sleepMs = POLL_MS;
    if (!this.#stopped) this.#timer = setTimeout(() => this.wake(), sleepMs);
  }

  #start(job: Job): void {
    const run = this.#run(job).finally(() => {
      this.#running.delete(run);
      this.wake();
    });
    this.#running.add(run);
  }

  async #run(job: Job): Promise<void> {
    const { leaseMs, retryDelayMs } = this.#queue;
    const beat = setInterval(() => {
      extendLease(this.#db, job, new Date(this.#clock.now().getTime() + leaseMs)).catch(() => {});
    }, leaseMs / 3);
    const fields = { queue: this.name, job_id: job.jobId, owner_id: job.ownerId, attempts: job.attempts };
    try {
      const again = await this.#queue.run(job);
      if (again) await rescheduleJob(this.#db, job, again, null);
      else await deleteJob(this.#db, job);
      this.#log.debug(fields, "job done");
    } catch (err) {
      const delayMs = retryDelayMs(job.attempts);
      this.#log.warn({ ...fields, err, retry_in_ms: delayMs }, "job failed");
      const dueAt = delayMs === null ? null : new Date(this.#clock.now().getTime() + delayMs);
      // Should even this fail, the lease ends and the job comes back by itself.
      await rescheduleJob(this.#db, job, dueAt, String(err)).catch(() => {});
    } finally {
      clearInterval(beat);
    }
  }
}

/** Null after a reconnect: anything may have been missed. */
async function listen(db: Database, onInsert: (queue: string | null) => void) {
  try {
    const [row] = await db<{ schema: string }[]>`select current_schema() as schema`;
    return await db.listen(`${row?.schema}.jobs`, onInsert, () => onInsert(null));
  } catch {
    return null;
  }
}
