import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { socketPath } from "@parley/shared/rpc/unix-sockets";
import type { User } from "./database-user.ts";

/** Bytes that every system allows in a socket's path: sun_path is shortest on macOS, and ends in a zero. */
const PATH_MAX_BYTES = 103;
/** The longest name of a socket, with room for 99 replicas. */
const LONGEST_NAME = "webhook-dispatcher-99.admin.sock";
/** What gRPC, Postgres, Redis and a shell without quotes read the same way. */
const PLAIN_PATH = /^[\w./-]+$/;

/**
 * Makes an empty folder that only one user may enter, so that nobody else on the machine can connect to the sockets in it. A new
 * temporary folder takes the place of one whose path is too long for a socket, or has characters that need quoting.
 * @param user to whom it belongs; null for ourselves
 * @returns its path
 */
export function makeSocketFolder(wanted: string, user: User | null = null): string {
  const folder = isFit(wanted) ? makeAnew(wanted) : mkdtempSync(join(isFit(tmpdir()) ? tmpdir() : "/tmp", "parley-"));
  chmodSync(folder, 0o700);
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** Removes the folders of these sockets, which a stack that ended or was killed has left. */
export function removeSocketFolders(addresses: readonly string[]): void {
  const paths = addresses.map(socketPath).filter((path) => path !== null);
  for (const folder of new Set(paths.map(dirname))) {
    const owner = lstatSync(folder, { throwIfNoEntry: false })?.uid;
    if (owner === process.geteuid?.()) rmSync(folder, { recursive: true, force: true });
    else if (owner !== undefined) removeIfEmpty(folder);
  }
}

/** The folder belongs to the user Postgres runs as, or is a temporary one that somebody else has made since: theirs to fill. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is in use, or not ours to remove.
  }
}

function makeAnew(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

function isFit(folder: string): boolean {
  return PLAIN_PATH.test(folder) && Buffer.byteLength(join(folder, LONGEST_NAME)) <= PATH_MAX_BYTES;
}
