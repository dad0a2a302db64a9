import { rmSync } from "node:fs";
import { type Home, replaceFile } from "./home.ts";

export interface RunningProcess {
  name: string;
  pid: number;
  /** host:port. */
  address: string;
  /** host:port of its health and metrics. */
  admin_address?: string;
}

const FILE = "stack.json";

/** What runs, for people and for the command line. */
export function writeStackFile(home: Home, processes: readonly RunningProcess[]): void {
  replaceFile(home.file(FILE), `${JSON.stringify({ processes }, null, 2)}\n`);
}

export function removeStackFile(home: Home): void {
  rmSync(home.file(FILE), { force: true });
}
