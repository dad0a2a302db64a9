import { chmod, mkdir } from "node:fs/promises";
import { type Child, startChild, stopChild } from "@parley/dev/processes/child.ts";
import { freePorts } from "@parley/dev/processes/ports.ts";
import {
  type Cluster,
  ensureDatabase,
  pingPostgres,
  postgresCommand,
  postgresUrl,
  prepareCluster,
} from "@parley/dev/storage/postgres.ts";
import { provision, roleUrls, type Schema } from "@parley/shared/db/provision";
import { eventually } from "@parley/testkit/eventually";
import type { Run } from "../run.ts";

const NAME = "lists";
const PASSWORD = "bench";
const SECRET = "bench";
const READY_MS = 60_000;
const STOP_MS = 120_000;

/** For seeding only, because a failed seeding starts over; afterwards Postgres runs with its defaults. */
const RELAXED = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  wal_level: "minimal",
  max_wal_senders: "0",
  max_wal_size: "8GB",
  maintenance_work_mem: "512MB",
  autovacuum: "off",
};

export interface BenchDatabase {
  /** As the role of the service whose schema it is. */
  url: string;
  /** Restarts Postgres, with the system's caches emptied too if permitted. */
  restart(mode: "relaxed" | "as it comes"): Promise<void>;
}

/** Starts a Postgres. @param folder for the data, which is kept; without it, the data is deleted with the run */
export async function startDatabase(run: Run, folder: string | undefined, schema: Schema): Promise<BenchDatabase> {
  const home = folder ?? run.folder;
  await mkdir(home, { recursive: true });
  await chmod(home, 0o711);
  const noOther = () =>
    Promise.reject(new Error(`The user that Postgres runs as cannot enter ${home}: give another --data`));
  const cluster = await prepareCluster({ home, fallback: noOther, password: PASSWORD });
  const [port = 0] = await freePorts(1);
  const clusterUrl = postgresUrl(port, PASSWORD, "postgres");
  let child: Child | null = null;
  const stop = async () => {
    if (child) await stopChild(child, "SIGINT", STOP_MS);
    child = null;
  };
  run.onEnd(stop);
  const restart: BenchDatabase["restart"] = async (mode) => {
    await stop();
    await emptyCaches();
    child = start(cluster, port, `${run.folder}/postgres.log`, mode === "relaxed" ? RELAXED : {});
    await eventually(() => pingPostgres(clusterUrl), READY_MS);
  };
  await restart("relaxed");
  await ensureDatabase(clusterUrl, NAME);
  const adminUrl = postgresUrl(port, PASSWORD, NAME);
  await provision(adminUrl, SECRET, NAME);
  return { url: roleUrls(adminUrl, SECRET, NAME)[schema], restart };
}

function start(cluster: Cluster, port: number, log: string, settings: Record<string, string>): Child {
  return startChild(postgresCommand(cluster, port, log, settings));
}

/** Empties the system's caches, as root on Linux; otherwise a restart empties only Postgres's own. */
async function emptyCaches(): Promise<void> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return;
  await Bun.spawn(["sync"]).exited;
  await Bun.write("/proc/sys/vm/drop_caches", "3").catch(() => {});
}
