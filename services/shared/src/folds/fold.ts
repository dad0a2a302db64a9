import type { Database, Fragment, Sql } from "../db/database.ts";
import { timeSlice } from "../jobs/time-slice.ts";
import { HAND_OVER, type Queue } from "../jobs/worker.ts";

/**
 * An owner's sums that are exact at every moment: the rows of a table, and what pending changes add to them. Triggers store a change as a
 * row of its own, so that no writer waits for another, and enqueue a job that folds the changes into the sums.
 */
export interface Fold {
  /** The table of changes, with `owner_id`, an ascending `change_id`, and what the sums need. */
  changes: string;
  /** The table of the sums, by which folds of an owner exclude each other. */
  sums: string;
  /** Parts of a statement that add the changes in `taken` to the sums, each as `, name as (…)`. */
  adding: (sql: Sql, ownerId: string) => Fragment;
}

/** Most changes folded in one transaction, which locks the owner's sums. */
const BATCH = 20_000;

/**
 * Moves an owner's oldest pending changes into the sums in one transaction, so that a reader sees each change once.
 * @returns the number of changes; 0 when none was pending
 */
export async function foldChanges(db: Database, ownerId: string, { changes, sums, adding }: Fold): Promise<number> {
  return db.begin(async (tx) => {
    // Waits for a concurrent fold of this owner, such as one whose lease expired.
    await tx`
      select pg_advisory_xact_lock(hashtextextended(current_schema() || '.' || ${sums} || '.' || ${ownerId}, 0))`;
    const [folded] = await tx<{ taken: number }[]>`
      with taken as (
        delete from ${tx(changes)} where owner_id = ${ownerId} and change_id <= (
          -- A range, because a set would be joined row by row: the table was empty when its statistics were collected.
          select max(change_id) from (
            select change_id from ${tx(changes)} where owner_id = ${ownerId} order by change_id limit ${BATCH}
          ) as first
        )
        returning *
      ) ${adding(tx, ownerId)}
      select count(*)::integer as taken from taken`;
    return folded?.taken ?? 0;
  }) as Promise<number>;
}

/**
 * The end of an `insert into … as known` that adds its row to the one that is there.
 * @param key the columns of the primary key
 * @param columns what is summed
 */
export function addingTo(sql: Sql, key: readonly string[], columns: readonly string[]): Fragment {
  const sums = columns.map(
    (name, at) => sql`${at > 0 ? sql`,` : sql``} ${sql(name)} = known.${sql(name)} + excluded.${sql(name)}`,
  );
  return sql`on conflict (${sql(key)}) do update set ${sums}`;
}

/** The queue of the jobs that a fold's triggers enqueue. */
export function foldQueue(db: Database, fold: Fold): Queue {
  return queueOfFolds((ownerId, isOver) => foldAll(db, ownerId, fold, isOver));
}

/** @param run of an owner; returns false when `isOver`, called after each part, returned true before it was done */
export function queueOfFolds(run: (ownerId: string, isOver: () => boolean) => Promise<boolean>): Queue {
  return {
    concurrency: 1,
    run: async ({ ownerId }, lease) => {
      if (!(await run(ownerId, timeSlice(lease)))) return HAND_OVER;
    },
  };
}

/** Folds an owner's changes until none is left, or until `isOver`, called after each batch, returns true; then returns false. */
export async function foldAll(db: Database, ownerId: string, fold: Fold, isOver: () => boolean): Promise<boolean> {
  while ((await foldChanges(db, ownerId, fold)) > 0) if (isOver()) return false;
  return true;
}
