import { $ } from "bun";

export interface User {
  uid: number;
  gid: number;
}

const NAME = "postgres";

/**
 * The user to run Postgres as: Postgres refuses root, so root uses the system user `postgres` and creates it if needed.
 * Null means the current user.
 * @throws when the user cannot be created
 */
export async function databaseUser(): Promise<User | null> {
  if (process.getuid?.() !== 0) return null;
  const existing = await findUser();
  if (existing) return existing;
  await $`useradd --system --user-group --no-create-home --shell /usr/sbin/nologin ${NAME}`.quiet().nothrow();
  const made = await findUser();
  if (!made)
    throw new Error(
      `Postgres does not run as root, and the user "${NAME}" could not be created: run this as another user`,
    );
  return made;
}

async function findUser(): Promise<User | null> {
  const line = await $`getent passwd ${NAME}`.quiet().nothrow().text();
  const [, , uid, gid] = line.split(":");
  return uid && gid ? { uid: Number(uid), gid: Number(gid) } : null;
}
