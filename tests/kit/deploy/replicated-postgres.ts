import { join } from "node:path";
import { ensureDatabase, OWNER, postgresUrl } from "@parley/dev/storage/postgres.ts";
import { $ } from "bun";
import postgres from "postgres";
import { PASSWORD, prepareOwnPostgres } from "./own-postgres.ts";

export interface ReplicatedPostgres {
  /** The address of the database as its owner, which a test's processes share. */
  primaryUrl: string;
  replicaUrl: string;
  /** Pauses and resumes the replica. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  killReplica(): Promise<void>;
  stop(): Promise<void>;
}

/** Two Postgres servers of a test's own, the second a streaming replica of the first. */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const own = await prepareOwnPostgres();
  const { data } = own.cluster;
  const copy = { ...own.cluster, data: `${data}-replica` };
  // Before the server runs, a copy of its files is a backup.
  await $`cp -a ${data} ${copy.data} && cp -p ${join(copy.data, "PG_VERSION")} ${join(copy.data, "standby.signal")}`.quiet();
  const { port } = await own.start(own.cluster);
  const source = `host=127.0.0.1 port=${port} user=${OWNER} password=${PASSWORD}`;
  const replica = await own.start(copy, { primary_conninfo: source });
  await ensureDatabase(postgresUrl(port, PASSWORD, "postgres"), OWNER);
  const onReplica = async (statement: string) => {
    const sql = postgres(postgresUrl(replica.port, PASSWORD, "postgres"), { max: 1 });
    await sql.unsafe(statement);
    await sql.end();
  };
  return {
    primaryUrl: postgresUrl(port, PASSWORD),
    replicaUrl: postgresUrl(replica.port, PASSWORD),
    pause: () => onReplica("select pg_wal_replay_pause()"),
    resume: () => onReplica("select pg_wal_replay_resume()"),
    killReplica: async () => {
      replica.child.signal("SIGQUIT");
      await replica.child.ended;
    },
    stop: own.stop,
  };
}
