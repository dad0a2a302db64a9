import { afterCommit, poolOf } from "../db/after-commit.ts";
import type { Database, Sql } from "../db/database.ts";
import { newUuid } from "../ids.ts";
import { batched } from "../rpc/batched.ts";

/** Tells every process's workers that queues have jobs. */
interface Announcer {
  /** Identifies its notifications, which its own worker need not hear of. */
  id: string;
  announce(queue: string): void;
  /** Calls `wake` for each queue announced in this process, at once. @returns ends that */
  hear(wake: (queue: string) => void): () => void;
}

/** Queues in one notification, more than any service has. */
const QUEUES_MAX = 100;

const announcers = new WeakMap<Database, Announcer>();

/** The announcer of all who use the pool. @param sql the pool, or a transaction of it */
export function announcerOf(sql: Sql): Announcer {
  const pool = poolOf(sql);
  const announcer = announcers.get(pool) ?? createAnnouncer(pool);
  announcers.set(pool, announcer);
  return announcer;
}

/**
 * Wakes the workers of queues whose jobs `sql` has enqueued, once it has committed. A notification within the transaction would
 * keep a lock of the whole cluster from then to the end of the commit, so that those of all services and owners would commit one
 * after the other. If the process dies before it notifies, workers find the jobs by polling.
 * @param sql a pool or a transaction of `openDatabase`
 */
export function announce(sql: Sql, queues: Iterable<string>): void {
  const announcer = announcerOf(sql);
  const distinct = new Set(queues);
  afterCommit(sql, () => {
    for (const queue of distinct) announcer.announce(queue);
  });
}

function createAnnouncer(db: Database): Announcer {
  const id = newUuid();
  const hearers = new Set<(queue: string) => void>();
  const notify = batched<string, void>(
    async (queues) => {
      await db`
        select pg_notify(current_schema() || '.jobs', queue || ' ' || ${id}::text)
        from unnest(${queues as string[]}::text[]) as announced (queue)`;
      return queues.map(() => undefined);
    },
    QUEUES_MAX,
    { idOf: (queue) => queue },
  );
  return {
    id,
    announce: (queue) => {
      for (const wake of hearers) wake(queue);
      // Workers poll in case a notification is lost.
      notify(queue).catch(() => {});
    },
    hear: (wake) => {
      hearers.add(wake);
      return () => hearers.delete(wake);
    },
  };
}
