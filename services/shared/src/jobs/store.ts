import type { Sql } from "../db/database.ts";

export interface Job<P = unknown> {
  ownerId: string;
  jobId: string;
  queue: string;
  payload: P;
  /** The run this is, 1 for the first. */
  attempts: number;
}

export interface NewJob {
  ownerId: string;
  jobId: string;
  queue: string;
  payload: unknown;
  dueAt: Date;
}

/** Asks for work, in the transaction of the change that causes it. A job of that id which waits already is moved to the new time. */
export async function enqueueJob(sql: Sql, job: NewJob): Promise<void> {
  await sql`
    insert into jobs (owner_id, job_id, queue, payload, due_at)
    values (${job.ownerId}, ${job.jobId}, ${job.queue}, ${sql.json(job.payload as never)}, ${job.dueAt})
    on conflict (owner_id, job_id) do update set payload = excluded.payload, due_at = excluded.due_at, attempts = 0`;
}

/** Takes due jobs for the length of a lease. */
export async function claimJobs(sql: Sql, queue: string, now: Date, leaseMs: number, limit: number): Promise<Job[]> {
  const leaseEnd = new Date(now.getTime() + leaseMs);
  return sql<Job[]>`
    update jobs set due_at = ${leaseEnd}, attempts = attempts + 1
    where (owner_id, job_id) in (
      select owner_id, job_id from jobs
      where queue = ${queue} and due_at <= ${now}
      order by due_at limit ${limit} for update skip locked
    )
    returning owner_id, job_id, queue, payload, attempts`;
}

/** The time at which a queue next has something due, if ever. */
export async function findNextDue(sql: Sql, queue: string): Promise<Date | null> {
  const [row] = await sql<{ dueAt: Date | null }[]>`
    select due_at from jobs where queue = ${queue} and due_at < 'infinity' order by due_at limit 1`;
  return row?.dueAt ?? null;
}

/** Only the run that still holds the job ends it: one whose lease ran out meanwhile changes nothing. */
export async function deleteJob(sql: Sql, job: Job): Promise<void> {
  await sql`
    delete from jobs where owner_id = ${job.ownerId} and job_id = ${job.jobId} and attempts = ${job.attempts}`;
}

export async function rescheduleJob(sql: Sql, job: Job, dueAt: Date | null, error: string | null): Promise<void> {
  await sql`
    update jobs set due_at = coalesce(${dueAt}::timestamptz, 'infinity'), last_error = ${error}
    where owner_id = ${job.ownerId} and job_id = ${job.jobId} and attempts = ${job.attempts}`;
}

export async function extendLease(sql: Sql, job: Job, leaseEnd: Date): Promise<void> {
  await sql`
    update jobs set due_at = ${leaseEnd}
    where owner_id = ${job.ownerId} and job_id = ${job.jobId} and attempts = ${job.attempts}`;
}
