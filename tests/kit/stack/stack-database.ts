import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Home } from "@parley/dev/stack/home.ts";
import type { Installation } from "@parley/dev/stack/installation.ts";
import { readStackFile } from "@parley/dev/stack/stack-file.ts";
import { ensureDatabase, postgresUrl } from "@parley/dev/storage/postgres.ts";
import { provision, roleUrls, SCHEMAS } from "@parley/shared/db/provision";
import { socketPath } from "@parley/shared/rpc/socket-path";
import { copyDatabase, EMPTY_TEMPLATE, TEMPLATE, TEST_SECRET } from "@parley/testkit/database";
import postgres from "postgres";

/** A database for a stack, like one that an operator sets in DATABASE_URL. */
export interface GivenDatabase {
  url: string;
  /** Drops the database and the roles created for it. */
  drop(): Promise<void>;
}

/** An empty database. @throws when the test was not started by the test command, which provides Postgres */
export async function createDatabase(): Promise<GivenDatabase> {
  return makeDatabase(ensureDatabase);
}

/** A database with every service's tables and the roles that a stack expects, so that its processes migrate nothing. */
export async function createMigratedDatabase(): Promise<GivenDatabase> {
  const given = await makeDatabase((clusterUrl, name) => copyDatabase(clusterUrl, TEMPLATE, name));
  await provision(given.url, TEST_SECRET);
  const [theirs, own] = [roleUrls(given.url, TEST_SECRET, EMPTY_TEMPLATE), roleUrls(given.url, TEST_SECRET)];
  const admin = postgres(given.url, { max: 1, onnotice: () => {} });
  for (const schema of SCHEMAS)
    await admin`reassign owned by ${admin(roleOf(theirs[schema]))} to ${admin(roleOf(own[schema]))}`;
  await admin.end();
  return given;
}

async function makeDatabase(create: (clusterUrl: string, name: string) => Promise<void>): Promise<GivenDatabase> {
  const clusterUrl = process.env.PARLEY_TEST_POSTGRES;
  if (!clusterUrl) throw new Error("no PARLEY_TEST_POSTGRES: run tests with `bun run test [path]`, which starts one");
  const name = `e_${Bun.randomUUIDv7("hex").slice(-16)}`;
  await create(clusterUrl, name);
  const url = Object.assign(new URL(clusterUrl), { pathname: `/${name}` }).toString();
  return {
    url,
    drop: async () => {
      const admin = postgres(clusterUrl, { max: 1, onnotice: () => {} });
      await admin`drop database ${admin(name)} with (force)`;
      const roles = Object.values(roleUrls(url, TEST_SECRET)).map(roleOf);
      for (const role of roles) await admin`drop role if exists ${admin(role)}`;
      await admin.end();
    },
  };
}

function roleOf(url: string): string {
  return decodeURIComponent(new URL(url).username);
}

/** The administrator's address of a running stack's own Postgres. */
export function ownDatabase(home: Home, database?: string): string {
  const address = readStackFile(home).find(({ name }) => name === "postgres")?.address ?? "";
  return postgresUrl(dirname(socketPath(address) ?? ""), readInstallation(home).postgresPassword, database);
}

export function readInstallation(home: Home): Installation {
  return JSON.parse(readFileSync(home.file("installation.json"), "utf8"));
}
