import { lstat, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { hasEnded, identify, pidNamespace } from "./process-table.ts";

/** The file in a folder that says which process owns it. */
const OWNER = ".run";

interface Owner {
  /** Containers may share a folder and a host name, but not their processes. */
  host: string;
  namespace: string;
  pid: number;
  identity: string;
}

/**
 * Creates a temporary folder of this run in `parent`, and removes those of the same user's runs that were killed: their processes end
 * with them, but hundreds of megabytes would stay, in part in memory.
 * @param prefix of the folder's name, the same in all runs
 */
export async function runFolder(parent: string, prefix: string): Promise<string> {
  const names = await readdir(parent).catch(() => []);
  const folders = names.filter((name) => name.startsWith(prefix)).map((name) => join(parent, name));
  // What cannot be removed must not stop this run.
  await Promise.all(folders.map((folder) => removeAbandoned(folder).catch(() => {})));
  const folder = await mkdtemp(join(parent, prefix));
  const [namespace, identity] = [pidNamespace(), identify(process.pid)];
  if (namespace === null || identity === null) return folder;
  const owner: Owner = { host: hostname(), namespace, pid: process.pid, identity };
  await writeFile(join(folder, OWNER), JSON.stringify(owner));
  return folder;
}

async function removeAbandoned(folder: string): Promise<void> {
  const found = await lstat(folder);
  // Another user could name any process as the owner.
  if (!found.isDirectory() || found.uid !== process.geteuid?.()) return;
  const { host, namespace, pid, identity }: Owner = JSON.parse(await readFile(join(folder, OWNER), "utf8"));
  if (host !== hostname() || namespace !== pidNamespace() || !hasEnded(pid, identity)) return;
  // The owner's file goes last: what cannot be removed now is removed by a later run.
  const inside = (await readdir(folder)).filter((name) => name !== OWNER);
  await Promise.all(inside.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  await rm(folder, { recursive: true, force: true });
}
