import type { Clock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import type { Logger } from "../log.ts";
import { listClaimable } from "./store.ts";

interface Polling {
  db: Database;
  queues: readonly string[];
  log: Logger;
  clock: Clock;
  pollMs: number;
  onClaimable(queue: string): void;
}

/**
 * Asks every `pollMs` which queues have a job that is due before it asks again, in one statement for all of them, so that a service
 * with many queues costs an idle database no more than one with few.
 */
export function poll({ db, queues, log, clock, pollMs, onClaimable }: Polling): { stop(): Promise<void> } {
  let stopped = false;
  let asking = Promise.resolve();
  let timer = setTimeout(next, pollMs);

  function next(): void {
    asking = ask().then(() => {
      if (!stopped) timer = setTimeout(next, pollMs);
    });
  }

  async function ask(): Promise<void> {
    try {
      const before = new Date(clock.now().getTime() + pollMs);
      for (const queue of await listClaimable(db, queues, before)) onClaimable(queue);
    } catch (err) {
      log.warn({ err }, "cannot poll for jobs, will retry");
    }
  }

  return {
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await asking;
    },
  };
}
