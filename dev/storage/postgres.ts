import { chown, mkdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connectPostgres } from "@parley/shared/db/connect";
import type { Command } from "../processes/child.ts";
import { commandLine } from "../processes/process-table.ts";
import { databaseUser, type User } from "./database-user.ts";
import { canReach, packagedBinaries, reachableBinaries } from "./postgres-binaries.ts";

/** The owner of an embedded Postgres's database, and the database's name. */
export const OWNER = "parley";

interface ClusterSettings {
  /** Where to keep the data, if Postgres's user can reach it. */
  home: string;
  /** Where to keep the data otherwise. */
  fallback: () => Promise<string>;
  password: string;
}

export interface Cluster {
  /** Where the data is. */
  place: string;
  data: string;
  binaries: string;
  user: User | null;
}

/**
 * Creates a Postgres cluster, or reuses the existing one. When root runs this and only root can enter the home, the
 * data goes to the fallback, because Postgres runs as another user.
 */
export async function prepareCluster({ home, fallback, password }: ClusterSettings): Promise<Cluster> {
  const packaged = packagedBinaries();
  const user = (await ownerOf(join(home, "postgres"))) ?? (await databaseUser());
  const place = canReach(home, user) ? home : await fallback();
  const binaries = await reachableBinaries(packaged, user, place);
  const data = join(place, "postgres");
  const cluster = { place, data, binaries, user };
  if (await Bun.file(join(data, "PG_VERSION")).exists()) await forgetDeadPostmaster(data);
  else await initialise(cluster, password);
  return cluster;
}

/**
 * The command that runs a cluster, with extra server settings.
 * @param where a loopback port, or the folder of a socket
 */
export function postgresCommand(
  { data, binaries, user }: Cluster,
  where: number | string,
  log: string,
  settings: Readonly<Record<string, string>> = {},
): Command {
  const listen =
    typeof where === "number"
      ? { listen_addresses: "127.0.0.1", unix_socket_directories: "", port: String(where) }
      : { listen_addresses: "", unix_socket_directories: where };
  const all = { ...listen, ...settings };
  const flags = Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return { args: [join(binaries, "bin", "postgres"), "-D", data, ...flags], cwd: "/", user, log, stopSignal: "SIGINT" };
}

/** @param where a loopback port, or the folder of a socket, written into the URL as libpq expects */
export function postgresUrl(where: number | string, password: string, database = OWNER): string {
  const host = typeof where === "number" ? `127.0.0.1:${where}` : encodeURIComponent(where);
  return `postgres://${OWNER}:${password}@${host}/${database}`;
}

/** @throws while Postgres does not answer. */
export async function pingPostgres(url: string): Promise<void> {
  const sql = connectPostgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} });
  try {
    await sql`select 1`;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Creates the database unless it exists. @param clusterUrl URL of another database in the same cluster */
export async function ensureDatabase(clusterUrl: string, name: string): Promise<void> {
  const sql = connectPostgres(clusterUrl, { max: 1, onnotice: () => {} });
  try {
    const [existing] = await sql`select 1 from pg_database where datname = ${name}`;
    if (!existing) await sql`create database ${sql(name)}`;
  } finally {
    await sql.end();
  }
}

/**
 * Removes the pid file of a killed Postgres when another program now has its pid: Postgres would take that program for
 * itself and refuse to start, as happens in containers, where pids are few.
 */
async function forgetDeadPostmaster(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  const [pid = ""] = (
    await Bun.file(file)
      .text()
      .catch(() => "")
  ).split("\n");
  const holder = commandLine(Number(pid));
  if (holder !== "" && !holder.includes(data)) await rm(file, { force: true });
}

/** The creator of the data runs Postgres, even when root starts another user's stack. */
async function ownerOf(data: string): Promise<User | null> {
  if (process.getuid?.() !== 0) return null;
  const { uid, gid } = await stat(data).catch(() => ({ uid: 0, gid: 0 }));
  return uid === 0 ? null : { uid, gid };
}

/** Creates the cluster beside its place and then moves it there, so that an interrupted attempt is never taken for a cluster. */
async function initialise({ data, binaries, user }: Cluster, password: string): Promise<void> {
  const draft = `${data}.new`;
  const passwordFile = `${data}.password`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) for (const path of [draft, passwordFile]) await chown(path, user.uid, user.gid);
  try {
    await initdb(
      [
        join(binaries, "bin", "initdb"),
        ...["-D", draft, "-U", OWNER, "--auth=scram-sha-256", `--pwfile=${passwordFile}`, "--encoding=UTF8"],
        ...["--locale=C.UTF-8", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
      ],
      user,
    );
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, data);
}

async function initdb(args: string[], user: User | null): Promise<void> {
  const run = Bun.spawn(args, {
    cwd: "/",
    env: { PATH: process.env.PATH ?? "", TZ: "UTC" },
    stdio: ["ignore", "ignore", "pipe"],
    ...(user && { uid: user.uid, gid: user.gid }),
  });
  const errors = await new Response(run.stderr).text();
  if ((await run.exited) !== 0) throw new Error(`Postgres could not be set up: ${errors.trim()}`);
}
