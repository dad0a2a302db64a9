import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Where a stack keeps everything it makes. */
export interface Home {
  path: string;
  /** Path of one of its files. */
  file(name: string): string;
  log(process: string): string;
}

/** @throws when the folder cannot be made. */
export function openHome(folder: string): Home {
  const path = resolve(folder);
  mkdirSync(join(path, "logs"), { recursive: true });
  return {
    path,
    file: (name) => join(path, name),
    log: (process) => join(path, "logs", `${process}.log`),
  };
}

/** Replaces a file, which only its owner may read: a reader sees the old text or the new one, never a part. */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}
