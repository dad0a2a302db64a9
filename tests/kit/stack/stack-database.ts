import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Home } from "@parley/dev/stack/home.ts";
import type { Installation } from "@parley/dev/stack/installation.ts";
import { readStackFile } from "@parley/dev/stack/stack-file.ts";
import { ensureDatabase, postgresUrl } from "@parley/dev/storage/postgres.ts";
import { roleUrls } from "@parley/shared/db/provision";
import { socketPath } from "@parley/shared/rpc/unix-sockets";
import { TEST_SECRET } from "@parley/shared/testing/database";
import postgres from "postgres";

/** An empty database for a stack to set up, like one that an operator sets in DATABASE_URL. */
export interface GivenDatabase {
  url: string;
  /** Drops the database and the roles created for it. */
  drop(): Promise<void>;
}

/** @throws when the test was not started by the test command, which provides Postgres */
export async function createDatabase(): Promise<GivenDatabase> {
  const clusterUrl = process.env.PARLEY_TEST_POSTGRES;
  if (!clusterUrl) throw new Error("no PARLEY_TEST_POSTGRES: run tests with `bun run test [path]`, which starts one");
  const name = `e_${Bun.randomUUIDv7("hex").slice(-16)}`;
  await ensureDatabase(clusterUrl, name);
  const url = Object.assign(new URL(clusterUrl), { pathname: `/${name}` }).toString();
  return {
    url,
    drop: async () => {
      const admin = postgres(clusterUrl, { max: 1, onnotice: () => {} });
      await admin`drop database ${admin(name)} with (force)`;
      const roles = Object.values(roleUrls(url, TEST_SECRET)).map((role) => decodeURIComponent(new URL(role).username));
      for (const role of roles) await admin`drop role if exists ${admin(role)}`;
      await admin.end();
    },
  };
}

/** The administrator's address of a running stack's own Postgres. */
export function ownDatabase(home: Home, database?: string): string {
  const address = readStackFile(home).find(({ name }) => name === "postgres")?.address ?? "";
  return postgresUrl(dirname(socketPath(address) ?? ""), readInstallation(home).postgresPassword, database);
}

export function readInstallation(home: Home): Installation {
  return JSON.parse(readFileSync(home.file("installation.json"), "utf8"));
}
