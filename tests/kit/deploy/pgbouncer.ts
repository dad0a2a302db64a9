import { chmod, chown, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild, stopChild } from "@parley/dev/processes/child.ts";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { databaseUser } from "@parley/dev/storage/database-user.ts";
import { pingPostgres } from "@parley/dev/storage/postgres.ts";
import { roleUrls } from "@parley/shared/db/provision";
import { TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { obtain } from "@parley/testkit/programs/obtain";

export interface PgBouncer {
  /** The database's address through PgBouncer. */
  url: string;
  stop(): Promise<void>;
}

const STOP_WITHIN_MS = 5_000;

/** PgBouncer in transaction mode in front of a test's database, with so few connections that clients share them. */
export async function startPgBouncer(databaseUrl: string): Promise<PgBouncer> {
  const program = await obtain("pgbouncer");
  const [port = 0] = await freePorts(1);
  const folder = await mkdtemp(join(tmpdir(), "parley-pgbouncer-"));
  const target = new URL(databaseUrl);
  const users = [databaseUrl, ...Object.values(roleUrls(databaseUrl, TEST_SECRET))].map((url) => new URL(url));
  await writeFile(
    join(folder, "users.txt"),
    users
      .map(({ username, password }) => `"${decodeURIComponent(username)}" "${decodeURIComponent(password)}"\n`)
      .join(""),
  );
  await writeFile(
    join(folder, "pgbouncer.ini"),
    `[databases]
* = host=${target.hostname} port=${target.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = ${join(folder, "users.txt")}
pool_mode = transaction
default_pool_size = 3
max_client_conn = 200
`,
  );
  // PgBouncer refuses to run as root.
  const user = await databaseUser();
  await chmod(folder, 0o711);
  if (user) for (const name of ["users.txt", "pgbouncer.ini"]) await chown(join(folder, name), user.uid, user.gid);
  const command = {
    args: [program, join(folder, "pgbouncer.ini")],
    cwd: "/",
    user,
    log: join(folder, "log"),
    stopSignal: "SIGTERM",
  } as const;
  const child = startChild(command);
  const url = Object.assign(new URL(databaseUrl), { port: String(port) }).toString();
  await eventually(() => pingPostgres(url));
  return {
    url,
    stop: async () => {
      await stopChild(child, command.stopSignal, STOP_WITHIN_MS);
      await rm(folder, { recursive: true });
    },
  };
}
