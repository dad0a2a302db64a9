import { closeSync, openSync } from "node:fs";
import type { User } from "../storage/database-user.ts";

/** A program to run. Its environment is exactly `env` and the few variables that every program expects. */
export interface Command {
  args: readonly string[];
  env?: Readonly<Record<string, string>>;
  user?: User | null;
  cwd?: string;
  /** File to which its output is appended. */
  log: string;
  /** The signal that asks it to stop. */
  stopSignal: NodeJS.Signals;
}

export interface Child {
  pid: number;
  /** How it ended, such as "exit code 1" or "SIGKILL". */
  ended: Promise<string>;
  signal(signal: NodeJS.Signals): void;
}

const EVERYBODY_NEEDS = ["PATH", "HOME", "LANG", "TMPDIR", "TZ"] as const;

/**
 * Starts a program in its own process group, so that Ctrl-C reaches only the supervisor, which stops the rest in order.
 * If the supervisor is killed, the program is still told to stop: Bun by its own flag, others by the kernel.
 */
export function startChild(command: Command): Child {
  const log = openSync(command.log, "a", 0o600);
  try {
    const child = Bun.spawn(withoutOrphans(command), {
      cwd: command.cwd ?? process.cwd(),
      env: { ...commonEnv(), ...command.env },
      stdio: ["ignore", log, log],
      detached: true,
      ...(command.user && { uid: command.user.uid, gid: command.user.gid }),
    });
    return {
      pid: child.pid,
      ended: child.exited.then((code) => (child.signalCode ? String(child.signalCode) : `exit code ${code}`)),
      signal: (signal) => child.kill(signal),
    };
  } finally {
    closeSync(log);
  }
}

/** Asks a child to stop, and kills it if it has not stopped within `withinMs`. */
export async function stopChild(child: Child, signal: NodeJS.Signals, withinMs: number): Promise<void> {
  child.signal(signal);
  const timer = setTimeout(() => child.signal("SIGKILL"), withinMs);
  await child.ended;
  clearTimeout(timer);
}

function withoutOrphans({ args, stopSignal }: Command): string[] {
  const [program = "", ...rest] = args;
  if (program === process.execPath) return [program, "--no-orphans", ...rest];
  return kernelTellsChildren() ? ["setpriv", "--pdeathsig", stopSignal.slice(3), ...args] : [...args];
}

let canTell: boolean | undefined;

/** util-linux's setpriv has this option, busybox's does not; without it the next start cleans up. */
function kernelTellsChildren(): boolean {
  canTell ??=
    Bun.which("setpriv") !== null &&
    Bun.spawnSync(["setpriv", "--pdeathsig", "TERM", "true"], { stdio: ["ignore", "ignore", "ignore"] }).success;
  return canTell;
}

function commonEnv(): Record<string, string> {
  const pairs = EVERYBODY_NEEDS.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(pairs.filter((pair): pair is [(typeof pair)[0], string] => pair[1] !== undefined));
}
