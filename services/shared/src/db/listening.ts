import type postgres from "postgres";
import { newUuid } from "../ids.ts";
import { startBeat } from "./beat.ts";
import { connectPostgres } from "./connect.ts";
import type { Database, Sql } from "./database.ts";

interface ListeningSettings {
  /** URL of a direct connection to Postgres. */
  url: string;
  /** The database that sends the notifications; listening fails when its test notification does not arrive. */
  db: Database;
  channel: string;
  /** Shown in pg_stat_activity. */
  name: string;
  onNotification(payload: string): void;
  /**
   * Called every `beatMs` milliseconds unless the last call is still running. Its statement is answered after all earlier
   * notifications were passed on. If it fails, or takes longer than ten beats, but at least two seconds, the connection counts as lost.
   */
  beat(connection: Sql): Promise<unknown>;
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

/**
 * Listens on its own connection until that is lost. The driver's `listen` reconnects by itself but reports it only
 * afterwards, and readers must know at once that they may miss something.
 * @throws when Postgres is unreachable, or when a test notification does not arrive
 */
export async function openListening({
  url,
  db,
  channel,
  name,
  onNotification,
  beat,
  beatMs,
}: ListeningSettings): Promise<Listening> {
  const lost = Promise.withResolvers<void>();
  const proof = PROOF + newUuid();
  const proven = Promise.withResolvers<void>();
  const connection = connect(url, name, {
    onclose: () => lost.resolve(),
    onnotify: (_channel, payload) => {
      if (payload === proof) proven.resolve();
      else if (!payload.startsWith(PROOF)) onNotification(payload);
    },
  });
  const prove = async () => {
    // The driver would take a dot in the name for the end of a schema's.
    await connection.unsafe(`listen "${channel.replaceAll('"', '""')}"`);
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
  const beats = startBeat(() => beat(connection), beatMs, lost.resolve);
  return {
    lost: lost.promise,
    end: async () => {
      beats.end();
      await connection.end({ timeout: 0 });
    },
  };
}

/** The driver's `listen` is built on `onnotify`, which its types leave out. */
function connect(
  url: string,
  name: string,
  events: { onclose(): void; onnotify(channel: string, payload: string): void },
): postgres.Sql {
  const options: postgres.Options<Record<string, never>> = {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    connect_timeout: 5,
    fetch_types: false,
    prepare: false,
    connection: { application_name: name },
    onnotice: () => {},
  };
  return connectPostgres(url, Object.assign(options, events));
}
