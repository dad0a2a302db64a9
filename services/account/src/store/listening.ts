import { connectPostgres } from "@parley/shared/db/connect";
import type { Database } from "@parley/shared/db/database";
import { newUuid } from "@parley/shared/ids";
import type postgres from "postgres";

export interface ListeningSettings {
  /** URL of a direct connection to Postgres. */
  url: string;
  /** The database that sends the notifications; listening fails when its test notification does not arrive. */
  db: Database;
  channel: string;
  onNotification(payload: string): void;
  /** Called every `beatMs` milliseconds, after all earlier notifications were passed on. */
  onBeat(): void;
  beatMs: number;
}

export interface Listening {
  /** Resolves once notifications may be lost. */
  lost: Promise<void>;
  end(): Promise<void>;
}

/** Prefix of the test notifications. */
const PROOF = "proof ";
const PROOF_MS = 2_000;
/** Unanswered beats after which the connection counts as lost. */
const MISSED_MAX = 10;

/**
 * Listens on its own connection until that is lost. The driver's `listen` reconnects by itself but reports it only
 * afterwards, and readers must know at once that they may miss something.
 * @throws when Postgres is unreachable, or when a test notification does not arrive
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
      new Error(
        "notifications do not arrive: behind a pooler, PARLEY_DATABASE_DIRECT_URL must point to Postgres itself",
      ),
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

/** The driver's `listen` is built on `onnotify`, which its types leave out. */
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
 * Queries over the listening connection, which answers after earlier notifications. A vanished peer closes nothing, so
 * only unanswered queries reveal it.
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
