import type { Sql } from "../db/database.ts";
import { type Job, leaseEnd } from "./store.ts";

/** How the places of one process are shared among the owners of a queue's jobs. */
export interface Shares {
  /** Jobs of one owner that may run at once. Jobs without an owner are not counted. */
  perOwner: number;
  /** Jobs of each owner that run now. */
  running: ReadonlyMap<string, number>;
  /** The owner who had the last turn. */
  last: string;
}

export interface ClaimSettings {
  queue: string;
  now: Date;
  leaseMs: number;
  /** Jobs to take at most. */
  limit: number;
  shares: Shares;
}

export interface Claim {
  /** In the order of the turns: the last one's owner had the last turn. */
  jobs: Job[];
  /** Another transaction held jobs that could have been taken. If it was another claim, there may be more to take. */
  contested: boolean;
}

/** Due jobs that are looked at without regard to owners. When there are more, owners are visited one by one. */
const OLDEST = 128;
/** Owners that are visited for one claim. */
const OWNERS = 64;

/**
 * Takes due jobs for the length of a lease. An owner with fewer jobs running goes first, and among equals owners take turns
 * in the order of their ids; an owner's own jobs go in the order of their times.
 *
 * The cost depends neither on how many jobs an owner has due nor on how many owners do: up to OLDEST due jobs are read as they
 * are; of a longer queue `jobs_in_turn` gives one owner after the other, at one step of the index each.
 */
export async function claimJobs(sql: Sql, { queue, now, leaseMs, limit, shares }: ClaimSettings): Promise<Claim> {
  const { perOwner, running, last } = shares;
  const full = [...running].filter(([, count]) => count >= perOwner).map(([ownerId]) => ownerId);
  // Part of the text: a plan for any number of rows sorts all due jobs.
  const oldestMax = sql.unsafe(String(OLDEST));
  // Materialized: the planner may run a part again that is not, and each run would lock further jobs.
  const rows = await sql<(Job & { contested: boolean })[]>`
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
      (select count(*) from taken) < (select count(*) from claimable) as contested
    from (values (1)) as once left join claimed on true
    order by place, owner_id <= ${last}, owner_id`;
  const contested = rows[0]?.contested ?? false;
  const jobs = rows.filter(({ jobId }) => jobId !== null).map(({ contested: _, ...job }) => job);
  return { jobs, contested: contested && jobs.length < limit };
}
