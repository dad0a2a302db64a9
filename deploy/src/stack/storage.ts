import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Home } from "./home.ts";
import { type Installation, saveInstallation } from "./installation.ts";
import type { Program } from "./keep-running.ts";
import { ensureDatabase, OWNER, pingPostgres, postgresCommand, postgresUrl, prepareCluster } from "./postgres.ts";
import { findRedisServer, pingRedis, redisCommand, redisUrl } from "./redis.ts";

/** Where data goes that Postgres' user cannot reach in the home; below it a folder for each stack. */
const OUT_OF_HOME = "/var/lib/parley";
const STOP_WITHIN_MS = 30_000;
/** Of one replica of every service, each with its pool full, and as many to spare. */
const CONNECTIONS = 100;

/** The embedded Postgres of a home; once it runs, `ensureStackDatabase` gives the address to use. */
export async function postgresProgram(
  home: Home,
  installation: Installation,
  replicas: number,
  say: (line: string) => void,
): Promise<Program> {
  const { postgresPassword: password, postgresPort: port, postgresFolder } = installation;
  const fallback = async () => {
    const folder = join(OUT_OF_HOME, randomBytes(8).toString("hex"));
    await mkdir(folder, { recursive: true });
    saveInstallation(home, { ...installation, postgresFolder: folder });
    return folder;
  };
  const cluster = await prepareCluster({ home: postgresFolder ?? home.path, fallback, password });
  if (cluster.place !== home.path)
    say(`Postgres keeps its data in ${cluster.place}: its user cannot enter ${home.path}`);
  const settings = { max_connections: String(replicas * CONNECTIONS) };
  const command = postgresCommand(cluster, port, home.log("postgres"), settings);
  const ping = () => pingPostgres(postgresUrl(port, password, "postgres"));
  return { name: "postgres", address: `127.0.0.1:${port}`, command, ping, stopWithinMs: STOP_WITHIN_MS };
}

/** The administrator's address of the stack's own database. */
export async function ensureStackDatabase({ postgresPassword, postgresPort }: Installation): Promise<string> {
  await ensureDatabase(postgresUrl(postgresPort, postgresPassword, "postgres"), OWNER);
  return postgresUrl(postgresPort, postgresPassword);
}

/** A Redis of the stack's own, if the machine has one. */
export function redisProgram(home: Home, port: number): Program | null {
  const server = findRedisServer();
  if (!server) return null;
  const url = redisUrl(port);
  const command = redisCommand(server, port, home.log("redis"));
  return { name: "redis", address: `127.0.0.1:${port}`, command, ping: () => pingRedis(url), stopWithinMs: 5_000 };
}
