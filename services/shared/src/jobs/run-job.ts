import { inSpan } from "../telemetry/spans.ts";
import { HAND_OVER, type LoopContext } from "./queue.ts";
import { extendLease, failJob, handOverJob, type Job, repeatJob } from "./store.ts";

/**
 * When a job that is handed over becomes due: the time that other processes take to hear of it, or this one would claim
 * it first.
 */
const HAND_OVER_MS = 100;

interface RunContext extends LoopContext {
  /** Stores that a run succeeded, together with other runs that succeed at the same time. */
  finish(job: Job): Promise<unknown>;
}

/**
 * Runs a claimed job to its end and stores the result; never rejects.
 * @param heldUntil when the lease ends, in `performance.now()` time
 * @returns when the job runs again, unless it was enqueued again in the meantime; null if not, or when its lease ends
 */
export async function runJob(ctx: RunContext, job: Job, heldUntil: number): Promise<Date | null> {
  const { log } = ctx;
  const lease = keepLease(ctx, job, heldUntil);
  try {
    return await inSpan(`job ${job.queue}`, { parent: job.traceparent }, () => runAndStore(ctx, job, lease.signal));
  } catch (err) {
    // The lease will end, and the job will be claimed again.
    log.warn({ ...fields(job), err }, "the outcome of a job could not be stored, so it will run again");
    return null;
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

async function runAndStore(
  { db, log, clock, queue, finish }: RunContext,
  job: Job,
  lease: AbortSignal,
): Promise<Date | null> {
  let again: Date | typeof HAND_OVER | undefined;
  try {
    again = (await queue.run(job, lease)) ?? undefined;
  } catch (err) {
    const delayMs = job.attempts < queue.attemptsMax ? queue.retryDelayMs(job.attempts) : null;
    log.warn({ ...fields(job), err, retry_in_ms: delayMs }, "job failed");
    const retryAt = delayMs === null ? null : new Date(clock.now().getTime() + delayMs);
    await failJob(db, job, retryAt, String(err));
    return retryAt;
  }
  const dueAt = again === HAND_OVER ? new Date(clock.now().getTime() + HAND_OVER_MS) : (again ?? null);
  if (again === HAND_OVER && dueAt) await handOverJob(db, job, dueAt);
  else if (dueAt) await repeatJob(db, job, dueAt);
  else await finish(job);
  log.debug(fields(job), "job done");
  return dueAt;
}

function fields(job: Job): Record<string, unknown> {
  return { queue: job.queue, job_id: job.jobId, owner_id: job.ownerId, attempts: job.attempts };
}
