import type { Sql } from "../db/database.ts";
import { type Job, leaseEnd } from "./store.ts";

/** How one process's places are shared among the owners of a queue's jobs. */
export interface Shares {
  /** Jobs of one owner that may run at once. Jobs without an owner are not counted. */
  perOwner: number;
  /** Each owner's running jobs. */
  running: ReadonlyMap<string, number>;
  /** The owner served last. */
  last: string;
}

interface ClaimSettings {
  queue: string;
  now: Date;
  leaseMs: number;
  /** The most jobs to claim. */
  limit: number;
  shares: Shares;
}

interface Claim {
  /** In the order of the turns; the last one's owner was served last. */
  jobs: Job[];
  /**
   * Another transaction held jobs that could have been claimed. If it was another claim, there may be more to claim.
   */
  contested: boolean;
  /** Whether due jobs were left: held by another transaction, beyond the limit or beyond their owner's share. */
  more: boolean;
  /** When the queue next has a job to claim, as it was before this claim; null if never. */
  nextAt: Date | null;
}

/** Due jobs that are read regardless of their owners. If there are more, owners are visited one by one. */
const OLDEST = 128;
/** Owners visited in one claim. */
const OWNERS = 64;

/**
 * Claims due jobs for the length of a lease. Owners with fewer running jobs go first, equal ones take turns in the
 * order of their ids, and an owner's own jobs go in the order of their times.
 *
 * The cost depends neither on how many jobs an owner has due nor on how many owners have any: up to OLDEST due jobs are
 * read directly; in a longer queue, `jobs_in_turn` leads from owner to owner with one index step each.
 */
export async function claimJobs(sql: Sql, { queue, now, leaseMs, limit, shares }: ClaimSettings): Promise<Claim> {
  const { perOwner, running, last } = shares;
  const full = [...running].filter(([, count]) => count >= perOwner).map(([ownerId]) => ownerId);
  // Part of the text, because a plan for any number of rows sorts all due jobs.
  const oldestMax = sql.unsafe(String(OLDEST));
  // Materialized, because the planner may run other parts again, and each run would lock further jobs.
  const rows = await sql<(Job & Omit<Claim, "jobs">)[]>`
    with recursive oldest as materialized (
      select owner_id, job_id, claimable_at from jobs
      where queue = ${queue} and claimable_at <= ${now} order by claimable_at limit ${oldestMax}
    ), owners (owner_id, claimable_at, lap) as (
      -- From the last owner to the end, then from the beginning to the last owner; nothing unless the queue is long.
      select ${last}::text, null::timestamptz, 0 where (select count(*) from oldest) = ${oldestMax}
      union all
      select next.* from owners cross join lateral (
        (
          select owner_id, claimable_at, owners.lap from jobs
          where queue = ${queue} and owner_id > owners.owner_id and (owners.lap = 0 or owners.owner_id < ${last})
          order by owner_id, claimable_at limit 1
        )
        union all
        (
          select owner_id, claimable_at, 1 from jobs
          where queue = ${queue} and owners.lap = 0 order by owner_id, claimable_at limit 1
        )
        limit 1
      ) as next
    ), candidates (owner_id, job_id, claimable_at) as (
      select * from oldest where (select count(*) from oldest) < ${oldestMax}
      union all
      select visited.owner_id, due.job_id, due.claimable_at
      from (
        select owner_id from owners
        where (lap = 1) = (owner_id <= ${last}) and claimable_at <= ${now} and owner_id <> all(${full}::text[])
        limit ${sql.unsafe(String(OWNERS))}
      ) as visited cross join lateral (
        select job_id, claimable_at from jobs
        where queue = ${queue} and jobs.owner_id = visited.owner_id and claimable_at <= ${now}
        order by claimable_at limit ${limit}
      ) as due
    ), placed as (
      select owner_id, job_id,
        row_number() over (partition by owner_id order by claimable_at, job_id) + coalesce(count, 0) as place
      from candidates left join unnest(${[...running.keys()]}::text[], ${[...running.values()]}::integer[])
        as running (owner_id, count) using (owner_id)
    ), claimable as materialized (
      select owner_id, job_id, place from placed where owner_id = '' or place <= ${perOwner}
    ), taken as materialized (
      select jobs.owner_id, jobs.job_id, place
      from claimable join jobs using (owner_id, job_id)
      -- Asked again of the row that is locked: another claim may have taken it since.
      where jobs.claimable_at <= ${now}
      order by place, owner_id <= ${last}, owner_id limit ${limit} for update of jobs skip locked
    ), claimed as (
      update jobs set leased_until = ${leaseEnd(now, leaseMs)}, lease = lease + 1, attempts = attempts + 1
      from taken where jobs.owner_id = taken.owner_id and jobs.job_id = taken.job_id
      returning jobs.owner_id, jobs.job_id, jobs.queue, jobs.payload, jobs.attempts, jobs.lease, jobs.traceparent, place
    )
    select owner_id, job_id, queue, payload, attempts, lease, traceparent,
      (select count(*) from taken) < (select count(*) from claimable) as contested,
      (select count(*) from oldest) > (select count(*) from taken) as more,
      (
        select claimable_at from jobs
        where queue = ${queue} and claimable_at > ${now} and claimable_at < 'infinity' order by claimable_at limit 1
      ) as next_at
    from (values (1)) as once left join claimed on true
    order by place, owner_id <= ${last}, owner_id`;
  const { contested = false, more = false, nextAt = null } = rows[0] ?? {};
  const jobs = rows.filter(({ jobId }) => jobId !== null).map(({ contested: _, more: __, nextAt: ___, ...job }) => job);
  return { jobs, contested: contested && jobs.length < limit, more, nextAt };
}
