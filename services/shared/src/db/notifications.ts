import { setTimeout as sleep } from "node:timers/promises";
import type { Database } from "./database.ts";

interface NotificationsOptions {
  db: Database;
  /** The same database without a pooler in between. */
  direct: Database;
  /** Its name in the schema: services share a database. */
  channel: string;
  /** Pause between attempts while the database cannot be reached. */
  retryMs: number;
  heard(payload: string): void;
  /** Called when listening begins, or begins again: notifications may have been missed. */
  onGap?(): void;
  /** Called when an attempt fails. */
  onAway(err: unknown): void;
}

export interface Notifications {
  /** Notifies all who listen, in every process. */
  tell(payload: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Listens for the notifications of a channel, and again after the connection was lost; code that must know of a loss at once uses
 * listening.ts.
 */
export function listenForNotifications(options: NotificationsOptions): Notifications {
  const { db } = options;
  const stopping = new AbortController();
  const listening = begin(options, stopping.signal);
  return {
    tell: async (payload) => {
      await db`select pg_notify(${await nameOf(options)}, ${payload})`;
    },
    stop: async () => {
      stopping.abort();
      const unlisten = await listening;
      // Without a connection there is nothing to undo.
      await unlisten?.().catch(() => {});
    },
  };
}

/** Once it listens, the `postgres` package reconnects by itself; the first attempt is up to us. */
async function begin(options: NotificationsOptions, stopping: AbortSignal): Promise<(() => Promise<void>) | null> {
  const { direct, retryMs, heard, onGap, onAway } = options;
  while (!stopping.aborted) {
    try {
      const { unlisten } = await direct.listen(await nameOf(options), heard, onGap);
      return unlisten;
    } catch (err) {
      onAway(err);
      await sleep(retryMs, null, { signal: stopping }).catch(() => {});
    }
  }
  return null;
}

async function nameOf({ db, channel }: NotificationsOptions): Promise<string> {
  const [row] = await db<{ schema: string }[]>`select current_schema() as schema`;
  return `${row?.schema}.${channel}`;
}
