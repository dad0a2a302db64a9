import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder with everything that a stack creates. */
export interface Home {
  path: string;
  /** The path of one of its files. */
  file(name: string): string;
  log(process: string): string;
}

/** @throws when the folder cannot be created */
export function openHome(folder: string): Home {
  const path = resolve(folder);
  mkdirSync(join(path, "logs"), { recursive: true });
  return {
    path,
    file: (name) => join(path, name),
    log: (process) => join(path, "logs", `${process}.log`),
  };
}

/** Replaces a file that only its owner may read. Atomic: a reader sees the old text or the new one. */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}
