import { chmod, rm } from "node:fs/promises";
import { join } from "node:path";
import { migrateSchemas } from "../deploy/src/migrate/migrate-all.ts";
import { type Child, type Command, startChild, stopChild } from "../dev/processes/child.ts";
import { freePorts } from "../dev/processes/ports.ts";
import { runFolder } from "../dev/processes/run-folder.ts";
import { ensureDatabase, pingPostgres, postgresCommand, postgresUrl, prepareCluster } from "../dev/storage/postgres.ts";
import { pingRedis, redisCommand, redisUrl } from "../dev/storage/redis.ts";
import { provision, roleUrls } from "../services/shared/src/db/provision.ts";
import { silentLogger } from "../services/shared/src/log.ts";
import { copyDatabase, EMPTY_TEMPLATE, TEMPLATE, TEST_SECRET } from "../testkit/src/database.ts";
import { eventually } from "../testkit/src/eventually.ts";
import { obtain } from "../testkit/src/programs/obtain.ts";
import { fastFolder } from "./fast-folder.ts";

const PASSWORD = "test";
const READY_MS = 30_000;
const STOP_MS = 5_000;

/** Test data need not survive, so it need not reach the disk. */
const FAST = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  autovacuum: "off",
  max_connections: "800",
  max_wal_size: "256MB",
  // Each iteration of a password's hash is computed anew for each of thousands of connections.
  scram_iterations: "1",
};
/** Several times what the databases of the tests that run at a time take. */
const DISK_BYTES = 2 * 1024 ** 3;

export interface Testbed {
  /** Environment variables for the tests. */
  env: Record<string, string>;
  stop(): Promise<void>;
}

/** Starts a Postgres and a Redis for one test run, in temporary folders. */
export async function startTestbed(): Promise<Testbed> {
  const redisServer = await obtain("redis");
  const [postgresPort = 0, redisPort = 0] = await freePorts(2);
  const clusterUrl = postgresUrl(postgresPort, PASSWORD, "postgres");
  const home = await temporaryFolder(await fastFolder(DISK_BYTES));
  const running: { child: Child; command: Command }[] = [];
  const folders = [home];
  const stop = async () => {
    await Promise.all(running.map(({ child, command }) => stopChild(child, command.stopSignal, STOP_MS)));
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  };
  const start = (command: Command) => running.push({ command, child: startChild(command) });
  const fallback = async () => {
    const folder = await temporaryFolder("/var/tmp");
    folders.push(folder);
    return folder;
  };
  try {
    start(redisCommand(redisServer, redisPort, join(home, "redis.log")));
    const cluster = await prepareCluster({ home, fallback, password: PASSWORD });
    start(postgresCommand(cluster, postgresPort, join(home, "postgres.log"), FAST));
    await eventually(() => pingPostgres(clusterUrl), READY_MS);
    await makeTemplates(clusterUrl, (name) => postgresUrl(postgresPort, PASSWORD, name));
    await eventually(() => pingRedis(redisUrl(redisPort)), READY_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  const env = {
    PARLEY_TEST_POSTGRES: clusterUrl,
    PARLEY_TEST_REDIS_URL: redisUrl(redisPort),
    PARLEY_TEST_REDIS_SERVER: redisServer,
  };
  return { env, stop };
}

async function makeTemplates(clusterUrl: string, urlOf: (name: string) => string): Promise<void> {
  await ensureDatabase(clusterUrl, EMPTY_TEMPLATE);
  await provision(urlOf(EMPTY_TEMPLATE), TEST_SECRET, EMPTY_TEMPLATE);
  await copyDatabase(clusterUrl, EMPTY_TEMPLATE, TEMPLATE);
  await migrateSchemas(roleUrls(urlOf(TEMPLATE), TEST_SECRET, EMPTY_TEMPLATE), silentLogger);
}

/** Creates a folder that Postgres's user can enter. */
async function temporaryFolder(parent: string): Promise<string> {
  const folder = await runFolder(parent, "parley-test-");
  await chmod(folder, 0o711);
  return folder;
}
