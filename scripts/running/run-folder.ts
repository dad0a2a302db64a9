import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { identify } from "../../dev/processes/process-table.ts";

/** The file in a folder that says which process it is of. */
const OWNER = ".run";

interface Owner {
  /** Containers may share a folder, but not their processes. */
  host: string;
  pid: number;
  identity: string;
}

/**
 * Creates a temporary folder of this run in `parent`, and removes those of runs that were killed: their processes end with them, but
 * hundreds of megabytes would stay, in part in memory.
 * @param prefix of the folder's name, the same in all runs
 */
export async function runFolder(parent: string, prefix: string): Promise<string> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  // It may be another user's, or being removed by another run.
  await Promise.all(names.map((name) => removeAbandoned(join(parent, name)).catch(() => {})));
  const folder = await mkdtemp(join(parent, prefix));
  const identity = identify(process.pid);
  const owner: Owner | null = identity === null ? null : { host: hostname(), pid: process.pid, identity };
  if (owner) await writeFile(join(folder, OWNER), JSON.stringify(owner));
  return folder;
}

async function removeAbandoned(folder: string): Promise<void> {
  const { host, pid, identity }: Owner = JSON.parse(await readFile(join(folder, OWNER), "utf8"));
  if (host === hostname() && identify(pid) !== identity) await rm(folder, { recursive: true });
}
