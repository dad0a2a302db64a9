import { readFileSync, rmSync } from "node:fs";
import { identify } from "../processes/process-table.ts";
import { type Home, replaceFile } from "./home.ts";

interface Running {
  name: string;
  pid: number;
  identity: string | null;
}

interface Lock {
  supervisor: Running;
  children: Running[];
}

const FILE = "supervisor.json";
const CLEAR_WITHIN_MS = 5_000;

/** Reserves a home for one stack. */
export interface HomeLock {
  /** Records what runs, so that the next start can stop it if this process is killed. */
  note(children: readonly { name: string; pid: number }[]): void;
  release(): void;
}

/**
 * Locks a home, and stops what a killed supervisor left running in it: only the very processes that it started.
 * @throws when another stack runs in the home
 */
export async function lockHome(home: Home): Promise<HomeLock> {
  const path = home.file(FILE);
  const left = read(path);
  if (left && isRunning(left.supervisor)) {
    throw new Error(
      `Another stack is running in ${home.path} (pid ${left.supervisor.pid}): stop it, or give this one its own PARLEY_HOME and PORT`,
    );
  }
  const supervisor = describe("supervisor", process.pid);
  const write = (lock: Lock) => replaceFile(path, `${JSON.stringify(lock, null, 2)}\n`);
  write({ supervisor, children: left?.children ?? [] });
  await Promise.all((left?.children ?? []).filter(isRunning).map(end));
  write({ supervisor, children: [] });
  return {
    note: (children) => write({ supervisor, children: children.map(({ name, pid }) => describe(name, pid)) }),
    release: () => rmSync(path, { force: true }),
  };
}

async function end(running: Running): Promise<void> {
  // To Postgres, SIGTERM means "when the last client has left"; SIGINT means now to all our processes.
  kill(running, "SIGINT");
  const deadline = performance.now() + CLEAR_WITHIN_MS;
  while (isRunning(running)) {
    if (performance.now() > deadline) kill(running, "SIGKILL");
    await Bun.sleep(20);
  }
}

function kill({ pid }: Running, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has already ended.
  }
}

function describe(name: string, pid: number): Running {
  return { name, pid, identity: identify(pid) };
}

function isRunning({ pid, identity }: Running): boolean {
  return identity !== null && identify(pid) === identity;
}

function read(path: string): Lock | null {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Lock;
  } catch {
    return null;
  }
}
