import { readFileSync, rmSync } from "node:fs";
import { type Home, replaceFile } from "./home.ts";

export interface RunningProcess {
  name: string;
  pid: number;
  /** host:port or unix:path. */
  address: string;
  /** unix:path of its health and metrics. */
  admin_address?: string;
  /** host:port that takes calls by SIP. */
  sip_address?: string;
  /** host:port for carriers' WebSockets. */
  media_address?: string;
}

const FILE = "stack.json";

/** Lists the running processes for people and for the command line. */
export function writeStackFile(home: Home, processes: readonly RunningProcess[]): void {
  replaceFile(home.file(FILE), `${JSON.stringify({ processes }, null, 2)}\n`);
}

/** Reads the processes as last written; empty when there is no such file. */
export function readStackFile(home: Home): readonly RunningProcess[] {
  try {
    return JSON.parse(readFileSync(home.file(FILE), "utf8")).processes;
  } catch {
    return [];
  }
}

export function removeStackFile(home: Home): void {
  rmSync(home.file(FILE), { force: true });
}
