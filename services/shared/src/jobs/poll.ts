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

export interface Poll {
  /** Asks at once, and every `pollMs` from then on. */
  ask(): void;
  stop(): Promise<void>;
}

/**
 * Asks at once and then every `pollMs` which queues have a job that is due before it asks again, in one statement for all of them,
 * so that a service with many queues costs an idle database no more than one with few.
 */
export function poll({ db, queues, log, clock, pollMs, onClaimable }: Polling): Poll {
  let stopped = false;
  const asking = new Set<Promise<void>>();
  let timer: Timer | undefined;

  /** Waits for no earlier question: on a connection that is lost, that one may stay unanswered for long. */
  function ask(): void {
    if (stopped) return;
    clearTimeout(timer);
    const asked = findClaimable().then(() => {
      asking.delete(asked);
      clearTimeout(timer);
      if (!stopped) timer = setTimeout(ask, pollMs);
    });
    asking.add(asked);
  }

  async function findClaimable(): Promise<void> {
    try {
      const before = new Date(clock.now().getTime() + pollMs);
      for (const queue of await listClaimable(db, queues, before)) onClaimable(queue);
    } catch (err) {
      log.warn({ err }, "cannot poll for jobs, will retry");
    }
  }

  ask();
  return {
    ask,
    stop: async () => {
      stopped = true;
      clearTimeout(timer);
      await Promise.all(asking);
    },
  };
}
