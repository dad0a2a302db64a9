import type { Fragment, Sql } from "../db/database.ts";
import { activeTraceparent } from "../telemetry/spans.ts";
import { announce } from "./announce.ts";

export interface Job<P = unknown> {
  ownerId: string;
  jobId: string;
  queue: string;
  payload: P;
  /** The number of this run; 1 for the first since the job was enqueued or last succeeded. */
  attempts: number;
  /** Identifies the claim that this run holds. */
  lease: number;
  /** W3C trace context of the request that enqueued it. */
  traceparent: string | null;
}

export interface NewJob {
  ownerId: string;
  jobId: string;
  queue: string;
  payload: unknown;
  dueAt: Date;
}

/**
 * Enqueues a job in the transaction of the change that causes it. A job with that id that is waiting or was given up is
 * moved to the new time; one that is running runs again afterwards.
 */
export async function enqueueJob(sql: Sql, job: NewJob): Promise<void> {
  await enqueueJobs(sql, [job]);
}

/** The same for several jobs of different ids, in one statement. */
export async function enqueueJobs(sql: Sql, jobs: readonly NewJob[]): Promise<void> {
  await enqueueing(sql, given(sql, jobs));
  announce(sql, queuesOf(jobs));
}

function queuesOf(jobs: readonly NewJob[]): string[] {
  return jobs.map(({ queue }) => queue);
}

function given(sql: Sql, jobs: readonly NewJob[]): Fragment {
  return sql`
    select * from unnest(
      ${jobs.map((job) => job.ownerId)}::text[],
      ${jobs.map((job) => job.jobId)}::text[],
      ${jobs.map((job) => job.queue)}::text[],
      ${jobs.map((job) => JSON.stringify(job.payload))}::text[],
      ${jobs.map((job) => job.dueAt.toISOString())}::text[]::timestamptz[]
    ) as given (owner_id, job_id, queue, payload, due_at)`;
}

/**
 * The same for the rows of a query, as the last part of a statement that creates what the jobs are about. The caller announces
 * them (`announce`). In order of id, so that two such statements cannot deadlock.
 * @param jobs selects owner_id, job_id, queue, payload and due_at
 */
export function enqueueing(sql: Sql, jobs: Fragment): Fragment {
  return sql`
    insert into jobs (owner_id, job_id, queue, payload, due_at, traceparent)
    select owner_id, job_id, queue, payload::jsonb, due_at, ${activeTraceparent() ?? null} from (${jobs}) as asked
    order by owner_id, job_id
    on conflict (owner_id, job_id) do update set payload = excluded.payload, due_at = excluded.due_at,
      traceparent = excluded.traceparent, attempts = 0`;
}

/** Enqueues a job unless one with that id is waiting or running. */
export async function enqueueJobOnce(sql: Sql, job: NewJob): Promise<void> {
  await enqueueJobsOnce(sql, [job]);
}

/** The same for several jobs, in one statement. */
export async function enqueueJobsOnce(sql: Sql, jobs: readonly NewJob[]): Promise<void> {
  await sql`
    insert into jobs (owner_id, job_id, queue, payload, due_at)
    select owner_id, job_id, queue, payload::jsonb, due_at from (${given(sql, jobs)}) as asked
    order by owner_id, job_id
    on conflict (owner_id, job_id) do nothing`;
  announce(sql, queuesOf(jobs));
}

interface Backlog {
  queue: string;
  /** Due now, or running. */
  due: number;
  /** Kept for inspection. */
  givenUp: number;
  /** When the job that has waited longest became due. */
  oldestDueAt: Date | null;
}

/** The backlog of each queue; queues without jobs are missing. */
export async function measureQueues(sql: Sql, queues: readonly string[], now: Date): Promise<Backlog[]> {
  return sql<Backlog[]>`
    select queue, count(*) filter (where due_at <= ${now}) as due, count(*) filter (where due_at = 'infinity') as given_up,
      min(due_at) filter (where due_at <= ${now}) as oldest_due_at
    from jobs where queue = any(${queues as string[]}) group by queue`;
}

/** The first time after `now` at which a queue has more to claim; null if never. */
export async function findNextClaimable(sql: Sql, queue: string, now: Date): Promise<Date | null> {
  const [row] = await sql<{ claimableAt: Date }[]>`
    select claimable_at from jobs
    where queue = ${queue} and claimable_at > ${now} and claimable_at < 'infinity' order by claimable_at limit 1`;
  return row?.claimableAt ?? null;
}

/** Those of the queues that have a job to claim by then. */
export async function listClaimable(sql: Sql, queues: readonly string[], by: Date): Promise<string[]> {
  const rows = await sql<{ queue: string }[]>`
    select queue from unnest(${queues as string[]}::text[]) as asked (queue)
    where exists (select from jobs where jobs.queue = asked.queue and claimable_at <= ${by})`;
  return rows.map(({ queue }) => queue);
}

// Only the run that still holds the lease changes its job below; a run that has lost its lease changes nothing.

/** Deletes the jobs of successful runs, except those enqueued again in the meantime. In order of id, as they are enqueued. */
export async function finishJobs(sql: Sql, jobs: readonly Job[]): Promise<void> {
  // A statement does not see the places of rows that changed while it waited for their locks: the next one does.
  while ((await finishSeen(sql, jobs)) > 0);
}

/** Finishes jobs by their places, because a join by their ids may compare all with each. @returns the number still to be finished */
async function finishSeen(sql: Sql, jobs: readonly Job[]): Promise<number> {
  const [row] = await sql<{ left: number }[]>`
    with finished as materialized (
      select jobs.ctid as place, jobs.attempts = ended.attempts as is_done
      from jobs join unnest(
        ${jobs.map((job) => job.ownerId)}::text[],
        ${jobs.map((job) => job.jobId)}::text[],
        ${jobs.map((job) => job.lease)}::bigint[],
        ${jobs.map((job) => job.attempts)}::integer[]
      ) as ended (owner_id, job_id, lease, attempts) using (owner_id, job_id)
      where jobs.lease = ended.lease
      order by owner_id, job_id for update of jobs
    ), gone as (
      delete from jobs where ctid = any(array(select place from finished where is_done)) returning true
    ), kept as (
      update jobs set leased_until = null, lease = lease + 1, last_error = null
      where ctid = any(array(select place from finished where not is_done)) returning true
    )
    select ((select count(*) from finished) - (select count(*) from gone) - (select count(*) from kept))::integer as left`;
  return row?.left ?? 0;
}

/** Stores a run that succeeded and wants another run, unless one was requested in the meantime. */
export async function repeatJob(sql: Sql, job: Job, dueAt: Date): Promise<void> {
  await sql`
    update jobs set leased_until = null, lease = lease + 1, attempts = 0, last_error = null,
      due_at = case when attempts = ${job.attempts} then ${dueAt}::timestamptz else due_at end
    where owner_id = ${job.ownerId} and job_id = ${job.jobId} and lease = ${job.lease}`;
}

/** Stores a run that hands its job over unfinished, and tells the workers of the time. */
export async function handOverJob(sql: Sql, job: Job, dueAt: Date): Promise<void> {
  await sql`
    update jobs set leased_until = null, lease = lease + 1, attempts = 0, last_error = null, due_at = ${dueAt}
    where owner_id = ${job.ownerId} and job_id = ${job.jobId} and lease = ${job.lease}`;
  announce(sql, [job.queue]);
}

/** Stores a run that failed. @param retryAt null gives the job up and keeps its row */
export async function failJob(sql: Sql, job: Job, retryAt: Date | null, error: string): Promise<void> {
  // Postgres texts hold every character but this one.
  const text = error.replaceAll("\0", "");
  await sql`
    update jobs set leased_until = null, lease = lease + 1, last_error = ${text},
      due_at = case when attempts = ${job.attempts} then coalesce(${retryAt}::timestamptz, 'infinity') else due_at end
    where owner_id = ${job.ownerId} and job_id = ${job.jobId} and lease = ${job.lease}`;
}

/** Extends the lease of a run. @returns whether the run still holds the job */
export async function extendLease(sql: Sql, job: Job, now: Date, leaseMs: number): Promise<boolean> {
  const { count } = await sql`
    update jobs set leased_until = ${leaseEnd(now, leaseMs)}
    where owner_id = ${job.ownerId} and job_id = ${job.jobId} and lease = ${job.lease}`;
  return count > 0;
}

/**
 * For the transaction that stores what a run has found out: a process that was frozen may have lost the job, whose next run then
 * decides. Locks the job until the end of the transaction. @returns whether the run still holds it
 */
export async function holdsJob(tx: Sql, job: Job): Promise<boolean> {
  const { count } = await tx`
    select from jobs
    where owner_id = ${job.ownerId} and job_id = ${job.jobId} and lease = ${job.lease} for no key update`;
  return count > 0;
}

export function leaseEnd(now: Date, leaseMs: number): Date {
  return new Date(now.getTime() + leaseMs);
}
