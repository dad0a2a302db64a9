import { str } from "envalid";
import type { Clock } from "../clock.ts";
import { type ConfigOf, positiveInteger, positiveNumber } from "../config.ts";
import { followDatabaseClock } from "../db/clock.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { type Migration, migrate } from "../db/migrate.ts";
import { ANSWER_WITHIN_MS } from "../db/provision.ts";
import type { Logger } from "../log.ts";
import { createClient, type ServiceClient } from "../rpc/client.ts";
import type { Definition } from "../rpc/definition.ts";
import { serve } from "../rpc/server.ts";
import { peerCredentials, TLS_VARIABLES, tlsFiles } from "../rpc/tls/credentials.ts";
import { ADMITTED, type ServiceName } from "../rpc/tls/peers.ts";
import { type Feature, handlersOf, startFeatures } from "./feature.ts";
import type { Running } from "./running.ts";

/** The environment variables of every service. */
export const SERVICE_VARIABLES = {
  DATABASE_URL: str({ desc: "postgres:// address of the service's own role" }),
  PARLEY_LISTEN: str({ default: "127.0.0.1:0", desc: "host:port or unix:path to serve gRPC on" }),
  PARLEY_DATABASE_POOL: positiveInteger({
    default: 10,
    desc: "maximum number of connections, in addition to three for long-running work",
  }),
  PARLEY_DATABASE_PREPARE: str({ default: "1", choices: ["0", "1"], desc: "0 behind a transaction-mode pooler" }),
  PARLEY_DATABASE_DIRECT_URL: str({
    default: "",
    desc: "like DATABASE_URL, but past a transaction-mode pooler, which loses notifications; defaults to DATABASE_URL",
  }),
  PARLEY_DRAIN_MS: positiveNumber({ default: 10_000, desc: "how long running calls may take to end at shutdown" }),
  ...TLS_VARIABLES,
};

type ServiceEnvironment = ConfigOf<typeof SERVICE_VARIABLES>;

interface Service<D extends Definition> {
  name: ServiceName;
  definition: D;
  migrations: readonly Migration[];
  /** Replaces the database's clock in tests. */
  clock: Clock | undefined;
  /** Interval at which jobs are polled, for tests with a fake clock. */
  pollMs?: number | undefined;
  /** Returns the service's features, in the order in which they stop after the last call. */
  build(given: Given): Promise<readonly Feature<D>[]> | readonly Feature<D>[];
}

export interface Given {
  /** Migrated. */
  db: Database;
  /** The same database for long-running work, without `db`'s limit on the time to answer. */
  patient: Database;
  /** The same database over a connection that receives notifications. */
  direct: Database;
  /** The database's clock unless the service was given another. */
  clock: Clock;
  /** Connects to another service, until the features have stopped. */
  connect<D extends Definition>(definition: D, peer: ServiceName, address: string): ServiceClient<D>;
  /** Fires after the last call, before jobs and features are stopped. */
  stopping: AbortSignal;
}

/**
 * Connections for long-running work, opened on demand in addition to PARLEY_DATABASE_POOL; several, so that one owner's
 * work leaves some to others.
 */
export const PATIENT_MAX = 3;

/** Opens the database, migrates it, runs the features' jobs and serves their calls. */
export async function startService<D extends Definition>(
  service: Service<D>,
  env: ServiceEnvironment,
  log: Logger,
): Promise<Running> {
  const files = tlsFiles(env, env.PARLEY_LISTEN);
  const credentials = peerCredentials(files, log);
  const database = {
    url: env.DATABASE_URL,
    prepare: env.PARLEY_DATABASE_PREPARE === "1",
    name: `parley-${service.name}`,
  };
  const patient = openDatabase({ ...database, max: PATIENT_MAX });
  await migrate(patient, service.migrations);
  const db = openDatabase({ ...database, max: env.PARLEY_DATABASE_POOL, answerWithinMs: ANSWER_WITHIN_MS });
  const direct = openDirect(env, service.name);
  const databaseClock = service.clock ? null : await followDatabaseClock(db, log);
  const clock = service.clock ?? (databaseClock as Clock);
  const stopping = new AbortController();
  const clients: { close(): void }[] = [];
  const common = { db, direct: direct ?? db, clock };
  const features = await service.build({
    ...common,
    patient,
    connect: (definition, peer, address) => {
      const client = createClient(definition, { peer, address, credentials: credentials.channel });
      clients.push(client);
      return client;
    },
    stopping: stopping.signal,
  });
  const { pollMs } = service;
  const running = await startFeatures(features, { ...common, log, ...(pollMs !== undefined && { pollMs }) });
  const server = await serve(service.definition, handlersOf(features), {
    address: env.PARLEY_LISTEN,
    log,
    credentials: credentials.server,
    peers: files && ADMITTED[service.name],
    drainMs: env.PARLEY_DRAIN_MS,
  });
  return {
    address: server.address,
    stop: async () => {
      // First, because watchers' streams never end by themselves and would block the drain.
      await Promise.all(features.map((feature) => feature.endStreams?.()));
      await server.stop();
      stopping.abort();
      await running.stop();
      for (const client of clients) client.close();
      const ends = [db, patient, direct].map((each) => each?.end({ timeout: 5 }));
      await Promise.all([databaseClock?.stop(), ...ends]);
    },
  };
}

/** Connects on first use. */
function openDirect(env: ServiceEnvironment, name: ServiceName): Database | null {
  if (env.PARLEY_DATABASE_DIRECT_URL === "") return null;
  return openDatabase({ url: env.PARLEY_DATABASE_DIRECT_URL, max: 1, name: `parley-${name}-direct` });
}
