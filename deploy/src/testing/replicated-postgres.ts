import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@parley/shared/testing/eventually";
import { $ } from "bun";
import postgres from "postgres";
import { type Child, startChild, stopChild } from "../stack/child.ts";
import { freePorts } from "../stack/ports.ts";
import {
  ensureDatabase,
  OWNER,
  pingPostgres,
  postgresCommand,
  postgresUrl,
  prepareCluster,
} from "../stack/postgres.ts";

const PASSWORD = "test";
const STOP_WITHIN_MS = 10_000;
const READY_WITHIN_MS = 30_000;

export interface ReplicatedPostgres {
  /** As the owner of the database, which a test's processes share. */
  primaryUrl: string;
  replicaUrl: string;
  /** The replica stands still, and goes on. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  killReplica(): Promise<void>;
  stop(): Promise<void>;
}

/** Two Postgres servers of a test's own, the second a streaming replica of the first. */
export async function startReplicatedPostgres(): Promise<ReplicatedPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "parley-replica-"));
  await chmod(folder, 0o711);
  const fallback = async () => Promise.reject(new Error(`${folder} is out of Postgres' reach`));
  const cluster = await prepareCluster({ home: folder, fallback, password: PASSWORD });
  const copy = { ...cluster, data: `${cluster.data}-replica` };
  // Nothing has run yet, so a copy of the files is a back-up.
  await $`cp -a ${cluster.data} ${copy.data} && cp -p ${join(copy.data, "PG_VERSION")} ${join(copy.data, "standby.signal")}`.quiet();
  const [port = 0, replicaPort = 0] = await freePorts(2);
  const children: Child[] = [];
  const start = async (of: typeof cluster, at: number, settings: Record<string, string>) => {
    children.push(startChild(postgresCommand(of, at, join(folder, `${at}.log`), settings)));
    await eventually(() => pingPostgres(postgresUrl(at, PASSWORD, "postgres")), READY_WITHIN_MS);
  };
  await start(cluster, port, { fsync: "off" });
  const source = `host=127.0.0.1 port=${port} user=${OWNER} password=${PASSWORD}`;
  await start(copy, replicaPort, { fsync: "off", primary_conninfo: source });
  await ensureDatabase(postgresUrl(port, PASSWORD, "postgres"), OWNER);
  const onReplica = async (statement: string) => {
    const sql = postgres(postgresUrl(replicaPort, PASSWORD, "postgres"), { max: 1 });
    await sql.unsafe(statement);
    await sql.end();
  };
  return {
    primaryUrl: postgresUrl(port, PASSWORD),
    replicaUrl: postgresUrl(replicaPort, PASSWORD),
    pause: () => onReplica("select pg_wal_replay_pause()"),
    resume: () => onReplica("select pg_wal_replay_resume()"),
    killReplica: async () => {
      children[1]?.signal("SIGQUIT");
      await children[1]?.ended;
    },
    stop: async () => {
      for (const child of children.toReversed()) await stopChild(child, "SIGINT", STOP_WITHIN_MS);
      await rm(folder, { recursive: true });
    },
  };
}
