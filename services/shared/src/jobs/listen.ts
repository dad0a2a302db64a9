import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "../db/database.ts";
import type { Logger } from "../log.ts";

interface Listener {
  /** Between attempts while the database cannot be reached. */
  retryMs: number;
  onJob(queue: string): void;
  /** Listening has just begun, or begun again: anything may have been missed. */
  onGap(): void;
}

/**
 * Listens for the notifications of `table.sql`, however often the connection is lost.
 * @param db where the jobs are
 * @param direct the same, or what leads to it past a pooler
 */
export function listenForJobs(
  db: Database,
  direct: Database,
  log: Logger,
  listener: Listener,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const listening = begin(db, direct, log, listener, stopping.signal);
  return {
    stop: async () => {
      stopping.abort();
      const unlisten = await listening;
      // Without a connection there is nothing to undo.
      await unlisten?.().catch(() => {});
    },
  };
}

/** Once listening, the `postgres` package listens again by itself after a loss; beginning is up to us. */
async function begin(
  db: Database,
  direct: Database,
  log: Logger,
  { retryMs, onJob, onGap }: Listener,
  stopping: AbortSignal,
): Promise<(() => Promise<void>) | null> {
  while (!stopping.aborted) {
    try {
      const [row] = await db<{ schema: string }[]>`select current_schema() as schema`;
      const { unlisten } = await direct.listen(`${row?.schema}.jobs`, onJob, onGap);
      return unlisten;
    } catch (err) {
      log.warn({ err }, "jobs are polled for until notifications can be had");
      await sleep(retryMs, null, { signal: stopping }).catch(() => {});
    }
  }
  return null;
}
