import { chmodSync, chownSync, lstatSync, mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { socketPath } from "@parley/shared/rpc/socket-path";
import type { User } from "./database-user.ts";

/** The longest socket path that every system allows: sun_path is shortest on macOS and ends in a zero byte. */
const PATH_MAX_BYTES = 103;
/** The longest name of a socket, with room for 99 replicas. */
const LONGEST_NAME = "webhook-dispatcher-99.admin.sock";
/** Paths that gRPC, Postgres, Redis and an unquoted shell word read the same way. */
const PLAIN_PATH = /^[\w./-]+$/;

/**
 * Creates an empty folder that only one user may enter, so that no other user can connect to its sockets. Uses a new
 * temporary folder when the path is too long for a socket or needs quoting.
 * @param user its owner; null for the current user
 * @returns its path
 */
export function makeSocketFolder(wanted: string, user: User | null = null): string {
  const folder = isFit(wanted) ? makeAnew(wanted) : mkdtempSync(join(isFit(tmpdir()) ? tmpdir() : "/tmp", "parley-"));
  chmodSync(folder, 0o700);
  if (user) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** Removes the folders of these sockets, left by a stack that ended or was killed. */
export function removeSocketFolders(addresses: readonly string[]): void {
  const paths = addresses.map(socketPath).filter((path) => path !== null);
  for (const folder of new Set(paths.map(dirname))) {
    const owner = lstatSync(folder, { throwIfNoEntry: false })?.uid;
    if (owner === process.geteuid?.()) rmSync(folder, { recursive: true, force: true });
    else if (owner !== undefined) removeIfEmpty(folder);
  }
}

/** Keeps a folder with content: it may belong to Postgres's user, or be another program's temporary folder by now. */
function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is in use, or belongs to another user.
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
