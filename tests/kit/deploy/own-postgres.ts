import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startChild, stopChild } from "@parley/dev/processes/child.ts";
import { freePorts } from "@parley/dev/processes/ports.ts";
import {
  type Cluster,
  ensureDatabase,
  OWNER,
  pingPostgres,
  postgresCommand,
  postgresUrl,
  prepareCluster,
} from "@parley/dev/storage/postgres.ts";
import { eventually } from "@parley/testkit/eventually";

export const PASSWORD = "test";
const STOP_WITHIN_MS = 10_000;
const READY_WITHIN_MS = 60_000;

export interface OwnPostgres {
  /** An empty server, not running yet. */
  cluster: Cluster;
  /** Runs the server, or a copy of it, on a port of its own. */
  start(cluster: Cluster, settings?: Record<string, string>): Promise<{ port: number; child: Child }>;
  stop(): Promise<void>;
}

/** Postgres servers of a test's own, in a folder that is deleted with them. */
export async function prepareOwnPostgres(): Promise<OwnPostgres> {
  const folder = await mkdtemp(join(tmpdir(), "parley-postgres-"));
  await chmod(folder, 0o711);
  const fallback = async () => Promise.reject(new Error(`${folder} is out of Postgres' reach`));
  const cluster = await prepareCluster({ home: folder, fallback, password: PASSWORD });
  const children: Child[] = [];
  return {
    cluster,
    start: async (of, settings = {}) => {
      const [port = 0] = await freePorts(1);
      const command = postgresCommand(of, port, join(folder, `${port}.log`), { fsync: "off", ...settings });
      const child = startChild(command);
      children.push(child);
      await eventually(() => pingPostgres(postgresUrl(port, PASSWORD, "postgres")), READY_WITHIN_MS);
      return { port, child };
    },
    stop: async () => {
      for (const child of children.toReversed()) await stopChild(child, "SIGINT", STOP_WITHIN_MS);
      await rm(folder, { recursive: true });
    },
  };
}

/** The address of an empty database on a server of a test's own, and a function that ends both. */
export async function startOwnPostgres(database = OWNER): Promise<{ url: string; stop(): Promise<void> }> {
  const own = await prepareOwnPostgres();
  const { port } = await own.start(own.cluster);
  await ensureDatabase(postgresUrl(port, PASSWORD, "postgres"), database);
  return { url: postgresUrl(port, PASSWORD, database), stop: own.stop };
}
