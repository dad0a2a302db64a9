import type { Home } from "../stack/home.ts";
import type { HomeLock } from "../stack/lock.ts";
import { type RunningProcess, removeStackFile, writeStackFile } from "../stack/stack-file.ts";
import { removeSocketFolders } from "../storage/sockets.ts";
import { type Kept, keepRunning, type Program } from "./keep-running.ts";

export interface Supervisor {
  /**
   * Starts all programs of some groups together and waits until they answer. A stop ends each group before the one before it.
   * @throws when one cannot be started
   */
  start(...groups: Program[][]): Promise<void>;
  /** Stops everything, the last group first. */
  stop(): Promise<void>;
}

/** Keeps a stack's programs running and the files about them up to date. */
export function supervise(home: Home, lock: HomeLock, say: (line: string) => void): Supervisor {
  const groups: Kept[][] = [];
  const running = new Map<string, RunningProcess>();
  let stopping = false;

  const events = {
    started({ name, address, adminAddress, sipAddress, mediaAddress }: Program, pid: number) {
      running.set(name, {
        name,
        pid,
        address,
        ...(adminAddress && { admin_address: adminAddress }),
        ...(sipAddress && { sip_address: sipAddress }),
        ...(mediaAddress && { media_address: mediaAddress }),
      });
      const processes = [...running.values()];
      try {
        lock.note(processes);
        writeStackFile(home, processes);
      } catch (error) {
        // A full disk must not stop the programs.
        say(`stack.json is out of date: ${error instanceof Error ? error.message : error}`);
      }
    },
    ended({ name }: Program, how: string, lastWords: string, pauseMs: number) {
      say(`${name} ended (${how})${lastWords && `: ${lastWords}`}; restarting it in ${pauseMs} ms`);
    },
    back({ name }: Program) {
      say(`${name} is back`);
    },
  };

  return {
    async start(...together) {
      if (stopping) throw new Error("stopped");
      const answering = together.flatMap((programs) => {
        const group = programs.map((program) => keepRunning(program, events));
        groups.push(group);
        return group.map(async ({ answers }, at) => {
          await answers;
          say(`${programs[at]?.name.padEnd(20)}${programs[at]?.address}`);
        });
      });
      await Promise.all(answering);
    },
    async stop() {
      stopping = true;
      for (const group of groups.toReversed()) await Promise.all(group.map((kept) => kept.stop()));
      removeSocketFolders([...running.values()].map(({ address }) => address));
      removeStackFile(home);
    },
  };
}
