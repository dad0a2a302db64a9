import type { Database } from "@parley/shared/db/database";
import { type Listening, openListening } from "@parley/shared/db/listening";
import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import { KEY_CHANGES } from "../store/key-changes.ts";
import { createMailbox, type Mailbox } from "./mailbox.ts";

interface KeyChange {
  /** The key whose grant changed. "" when this is not a heartbeat: any key may have changed. */
  keyId: string;
  /** Nothing changed, and no change was missed. */
  heartbeat: boolean;
}

export interface KeyChanges {
  /**
   * Yields a change of "any key" once no later change can be missed, then every change, and a heartbeat several times a
   * second.
   * @throws ServiceError unavailable as soon as changes may be missed: discard what you cached
   */
  watch(signal: AbortSignal): AsyncIterable<KeyChange>;
  stop(): Promise<void>;
}

interface KeyChangesSettings {
  db: Database;
  /** URL of a direct connection to the same database. */
  url: string;
  log: Logger;
  /** Milliseconds between heartbeats. */
  beatMs?: number;
}

const ANY_KEY = "";
/** A text that cannot be a key id. */
const HEARTBEAT = "heartbeat";
/** A gateway that misses two heartbeats still notices a lost connection within a second. */
const BEAT_MS = 300;
const RETRY_MS = [50, 100, 250, 500, 1_000] as const;
const LOST = "Key changes cannot be followed right now. Try again.";
const STOPPING = "The account service is stopping. Try again.";

/** Reports key changes of all processes to any number of watchers, over one listening connection. */
export function followKeyChanges({ db, url, log, beatMs = BEAT_MS }: KeyChangesSettings): KeyChanges {
  const watchers = new Set<Mailbox>();
  const stopping = Promise.withResolvers<void>();
  let stopped = false;
  let live = false;

  const tell = (text: string) => {
    for (const watcher of watchers) watcher.put(text);
  };
  const abandon = (why: string) => {
    live = false;
    for (const watcher of watchers) watcher.close(unavailable(why));
    watchers.clear();
  };
  const follow = async (listening: Listening) => {
    live = true;
    tell(ANY_KEY);
    await Promise.race([listening.lost, stopping.promise]);
    abandon(LOST);
    await listening.end();
    if (!stopped) log.warn("lost the connection that reports key changes, reconnecting");
  };
  const run = async () => {
    for (let failures = 0; !stopped; ) {
      try {
        const listening = await openListening({
          url,
          db,
          channel: KEY_CHANGES,
          onNotification: tell,
          name: "parley-account-listen",
          beat: (connection) => connection`select 1`.then(() => tell(HEARTBEAT)),
          beatMs,
        });
        failures = 0;
        await follow(listening);
      } catch (err) {
        if (failures++ === 0) log.warn({ err }, "cannot report key changes, so gateways recheck each key every second");
      }
      await Promise.race([Bun.sleep(RETRY_MS[failures] ?? 1_000), stopping.promise]);
    }
  };

  const running = run();
  return {
    async *watch(signal) {
      if (signal.aborted) return;
      if (stopped) throw unavailable(STOPPING);
      const watcher = createMailbox(ANY_KEY);
      const leave = () => watcher.close();
      signal.addEventListener("abort", leave, { once: true });
      watchers.add(watcher);
      if (live) watcher.put(ANY_KEY);
      try {
        for await (const text of watcher) {
          const heartbeat = text === HEARTBEAT;
          yield { keyId: heartbeat ? "" : text, heartbeat };
        }
      } finally {
        signal.removeEventListener("abort", leave);
        watchers.delete(watcher);
      }
    },
    async stop() {
      stopped = true;
      abandon(STOPPING);
      stopping.resolve();
      await running;
    },
  };
}

function unavailable(why: string): ServiceError {
  return new ServiceError("unavailable", why, { retryAfterMs: 1000 });
}
