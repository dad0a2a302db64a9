import { connectPostgres } from "@parley/shared/db/connect";
import type { Database } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import type postgres from "postgres";

export interface ListeningSettings {
  /** Of a direct connection to Postgres. */
  url: string;
  /** Where the notifications come from: what it sends must arrive, or nobody is listening. */
  db: Database;
  channel: string;
  onNotification(payload: string): void;
  /** Called every `beatMs` milliseconds: whatever was notified by then has been passed on. */
  onBeat(): void;
  beatMs: number;
}

export interface Listening {
  /** Resolves when notifications may get lost from now on. */
  lost: Promise<void>;
  end(): Promise<void>;
}

/** Begins what is sent to prove that notifications arrive. */
const PROOF = "proof ";
const PROOF_MS = 2_000;
/** Beats without an answer after which a connection is given up. */
const MISSED_MAX = 10;

/**
 * Listens on a connection of its own, for as long as that lives. The driver's own `listen` reconnects by itself but tells of
 * it only afterwards, and readers must know at once that they may be missing something.
 * @throws when Postgres cannot be reached, or when a notification sent as a proof does not arrive
 */
export async function openListening({
  url,
  db,
  channel,
  onNotification,
  onBeat,
  beatMs,
}: ListeningSettings): Promise<Listening> {
  const lost = Promise.withResolvers<void>();
  const proof = PROOF + newUuid();
  const proven = Promise.withResolvers<void>();
  const connection = connect(url, {
    onclose: () => lost.resolve(),
    onnotify: (_channel, payload) => {
      if (payload === proof) proven.resolve();
      else if (!payload.startsWith(PROOF)) onNotification(payload);
    },
  });
  const prove = async () => {
    await connection`listen ${connection(channel)}`;
    await db`select pg_notify(${channel}, ${proof})`;
    await proven.promise;
  };
  const failed = Promise.withResolvers<never>();
  lost.promise.then(() => failed.reject(new Error("the connection was lost")));
  const silence = setTimeout(() => {
    failed.reject(
      new Error("no notification arrives: behind a pooler PARLEY_DATABASE_DIRECT_URL must lead to Postgres itself"),
    );
  }, PROOF_MS);
  try {
    await Promise.race([prove(), failed.promise]);
  } catch (error) {
    await connection.end({ timeout: 0 });
    throw error;
  } finally {
    clearTimeout(silence);
  }
  const beat = startBeat(connection, beatMs, onBeat, lost.resolve);
  return {
    lost: lost.promise,
    end: async () => {
      clearInterval(beat);
      await connection.end({ timeout: 0 });
    },
  };
}

/** `onnotify` is what the driver's own `listen` is built on; its types leave it out. */
function connect(
  url: string,
  events: { onclose(): void; onnotify(channel: string, payload: string): void },
): postgres.Sql {
  const options: postgres.Options<Record<string, never>> = {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 5,
    fetch_types: false,
    prepare: false,
    connection: { application_name: "parley-account-listen" },
    onnotice: () => {},
  };
  return connectPostgres(url, Object.assign(options, events));
}

/**
 * Asks over the connection itself, which answers after what was notified before. A peer that vanished closes nothing: only
 * questions without an answer tell of it.
 */
function startBeat(connection: postgres.Sql, beatMs: number, onBeat: () => void, onLost: () => void): Timer {
  let missed = 0;
  let asking = false;
  return setInterval(() => {
    if (asking) {
      if (++missed >= MISSED_MAX) onLost();
      return;
    }
    asking = true;
    connection`select 1`.then(() => {
      asking = false;
      missed = 0;
      onBeat();
    }, onLost);
  }, beatMs);
}
