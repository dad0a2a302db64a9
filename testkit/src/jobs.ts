import type postgres from "postgres";

type AnySql = postgres.Sql | postgres.TransactionSql;

/** Makes jobs due now, unless they run. With attempts at 0, a run that is just ending does not change the time. */
export async function makeDue(sql: AnySql, ...jobIds: readonly string[]): Promise<void> {
  await sql`update jobs set due_at = '2000-01-01', attempts = 0 where job_id = any(${jobIds as string[]})`;
  await tellWorkers(sql);
}

/** Tells the workers of the schema that there may be jobs, after statements that bypass those which do. */
export async function tellWorkers(sql: AnySql): Promise<void> {
  await sql`
    select pg_notify(current_schema() || '.jobs', queue) from (select distinct queue from jobs) as queues`;
}
