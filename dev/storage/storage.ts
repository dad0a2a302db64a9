import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { databaseSocket } from "@parley/shared/db/connect";
import type { Program } from "../processes/keep-running.ts";
import type { Home } from "../stack/home.ts";
import { type Installation, saveInstallation } from "../stack/installation.ts";
import { ensureDatabase, OWNER, pingPostgres, postgresCommand, postgresUrl, prepareCluster } from "./postgres.ts";
import { findRedisServer, pingRedis, redisCommand, redisUrl } from "./redis.ts";
import { makeSocketFolder } from "./sockets.ts";

/** Where Postgres keeps its data when its user cannot enter the home; one folder per stack. */
const OUT_OF_HOME = "/var/lib/parley";
const STOP_WITHIN_MS = 30_000;
/** More than one replica of every service has: 15 with a full pool (docs/scaling.md). */
const CONNECTIONS = 120;

/**
 * A statement that was planned while its table was empty may use any index that has its columns, and read much of it, until the
 * table is analyzed. By default that takes up to a minute, in which a new stack has most of the rows that it ever gets. As Postgres
 * looks so often, it analyzes a table again when a half of it has changed: the default, a tenth, kept a core busy for half a second every
 * 14 seconds, with 45,000 conversations and a hundred turns a second.
 */
const YOUNG = { autovacuum_naptime: "5s", autovacuum_analyze_scale_factor: "0.5" };

/** The embedded Postgres of a home, on a socket in `folder`; once it runs, `ensureStackDatabase` returns the URL. */
export async function postgresProgram(
  home: Home,
  installation: Installation,
  replicas: number,
  say: (line: string) => void,
): Promise<{ program: Program; folder: string }> {
  const { postgresPassword: password, postgresFolder } = installation;
  const fallback = async () => {
    const folder = join(OUT_OF_HOME, randomBytes(8).toString("hex"));
    await mkdir(folder, { recursive: true });
    saveInstallation(home, { ...installation, postgresFolder: folder });
    return folder;
  };
  const cluster = await prepareCluster({ home: postgresFolder ?? home.path, fallback, password });
  if (cluster.place !== home.path)
    say(`Postgres keeps its data in ${cluster.place}: its user cannot enter ${home.path}`);
  const settings = { max_connections: String(replicas * CONNECTIONS), ...YOUNG };
  const folder = makeSocketFolder(join(cluster.place, "postgres-run"), cluster.user);
  const command = postgresCommand(cluster, folder, home.log("postgres"), settings);
  const url = postgresUrl(folder, password, "postgres");
  const address = `unix:${databaseSocket(url)}`;
  const ping = () => pingPostgres(url);
  return { program: { name: "postgres", address, command, ping, stopWithinMs: STOP_WITHIN_MS }, folder };
}

/** Creates the stack's database if needed; returns its administrator URL. */
export async function ensureStackDatabase(folder: string, { postgresPassword }: Installation): Promise<string> {
  await ensureDatabase(postgresUrl(folder, postgresPassword, "postgres"), OWNER);
  return postgresUrl(folder, postgresPassword);
}

/** The stack's own Redis, or null if the machine has no server. */
export function redisProgram(home: Home, socket: string): Program | null {
  const server = findRedisServer();
  if (!server) return null;
  const url = redisUrl(socket);
  const command = redisCommand(server, socket, home.log("redis"));
  return { name: "redis", address: `unix:${socket}`, command, ping: () => pingRedis(url), stopWithinMs: 5_000 };
}
