import { inSpan } from "../telemetry/spans.ts";
import { HAND_OVER, type LoopContext } from "./queue.ts";
import { extendLease, failJob, handOverJob, type Job, repeatJob } from "./store.ts";

/**
 * When a job that is handed over becomes due: the time that other processes take to hear of it, or this one would claim
 * it first.
 */
const HAND_OVER_MS = 100;

export interface RunContext extends LoopContext {
  /** Stores that a run succeeded, together with other runs that succeed at the same time. */
  finish(job: Job): Promise<unknown>;
}

/**
 * Runs a claimed job to its end and stores the result; never rejects.
 * @param heldUntil when the lease ends, in `performance.now()` time
 */
export async function runJob(ctx: RunContext, job: Job, heldUntil: number): Promise<void> {
  const { log } = ctx;
  const lease = keepLease(ctx, job, heldUntil);
  try {
    await inSpan(`job ${job.queue}`, { parent: job.traceparent }, () => runAndStore(ctx, job, lease.signal));
  } catch (err) {
    // The lease will end, and the job will be claimed again.
    log.warn({ ...fields(job), err }, "the outcome of a job could not be stored, so it will run again");
  } finally {
    lease.letGo();
  }
}

/**
 * Extends the lease until the job ends. One missed beat does no harm; without any, the job runs again, which it must
 * tolerate.
 */
function keepLease(
  { db, clock, queue }: LoopContext,
  job: Job,
  claimedUntil: number,
): { signal: AbortSignal; letGo(): void } {
  const beatMs = queue.leaseMs / 3;
  const lost = new AbortController();
  let heldUntil = claimedUntil;
  const beat = async () => {
    const sentAt = performance.now();
    // The lease would end before the next beat.
    if (sentAt + beatMs > heldUntil) lost.abort();
    const isOurs = await extendLease(db, job, clock.now(), queue.leaseMs).catch(() => null);
    if (isOurs) heldUntil = sentAt + queue.leaseMs;
    if (isOurs === false) lost.abort();
  };
  const timer = setInterval(beat, beatMs);
  return { signal: lost.signal, letGo: () => clearInterval(timer) };
}

async function runAndStore({ db, log, clock, queue, finish }: RunContext, job: Job, lease: AbortSignal): Promise<void> {
  let again: Date | typeof HAND_OVER | undefined;
  try {
    again = (await queue.run(job, lease)) ?? undefined;
  } catch (err) {
    const delayMs = queue.retryDelayMs(job.attempts);
    log.warn({ ...fields(job), err, retry_in_ms: delayMs }, "job failed");
    const retryAt = delayMs === null ? null : new Date(clock.now().getTime() + delayMs);
    return failJob(db, job, retryAt, String(err));
  }
  if (again === HAND_OVER) await handOverJob(db, job, new Date(clock.now().getTime() + HAND_OVER_MS));
  else if (again) {
    await repeatJob(db, job, again);
    await queue.rested?.(lease);
  } else await finish(job);
  log.debug(fields(job), "job done");
}

function fields(job: Job): Record<string, unknown> {
  return { queue: job.queue, job_id: job.jobId, owner_id: job.ownerId, attempts: job.attempts };
}
