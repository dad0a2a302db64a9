import { chmod, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild, stopChild } from "@parley/dev/processes/child.ts";
import { runFolder } from "@parley/dev/processes/run-folder.ts";

/** The files and processes of one benchmark, which are removed when it ends, however it ends. */
export interface Run {
  /** A folder that other users may enter, because Postgres runs as another user. */
  folder: string;
  /** Starts a script of this package as a process. @returns its pid */
  start(script: string, env: Record<string, string>): number;
  /** Starts a program as a process, with its output in a log of that name. @returns its pid */
  startProgram(name: string, args: readonly string[], env: Record<string, string>): number;
  /** Registers a function to call at the end, before earlier processes are ended. */
  onEnd(end: () => Promise<unknown>): void;
  /** Ends everything; a second call waits for the first. */
  end(): Promise<void>;
}

const STOP_WITHIN_MS = 5_000;

export async function openRun(): Promise<Run> {
  const folder = await runFolder(tmpdir(), "parley-bench-");
  await chmod(folder, 0o711);
  const ends: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  let ending: Promise<void> | null = null;

  async function endAll(): Promise<void> {
    for (let end = ends.pop(); end; end = ends.pop()) await end();
  }

  const startProgram: Run["startProgram"] = (name, args, env) => {
    const child = startChild({ args, env, log: join(folder, `${name}.log`), stopSignal: "SIGTERM" });
    ends.push(() => stopChild(child, "SIGTERM", STOP_WITHIN_MS));
    return child.pid;
  };

  return {
    folder,
    startProgram,
    start: (script, env) =>
      startProgram(
        script.replaceAll("/", "-"),
        [process.execPath, "--no-env-file", join(import.meta.dir, script)],
        env,
      ),
    onEnd: (end) => void ends.push(end),
    end: () => {
      ending ??= endAll();
      return ending;
    },
  };
}
