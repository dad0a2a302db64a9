import { expect } from "bun:test";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { identify } from "@parley/dev/processes/process-table.ts";
import type { RunningProcess } from "@parley/dev/stack/stack-file.ts";
import { eventually } from "@parley/testkit/eventually";
import { BINARIES_VARIABLE } from "@parley/testkit/programs/binaries";
import { LONG_LIVED, SHORT_LIVED } from "../kit/stack/short-lived.ts";

const CHECKOUT = join(import.meta.dir, "../..");
const BINARIES = process.env[BINARIES_VARIABLE] ?? "";
/** For a stack that runs as a user's does. */
export const FROM_SOURCES = { PARLEY_BINARIES: "", ...LONG_LIVED };
const UP_WITHIN_MS = 90_000;

export interface RunningStack {
  url: string;
  home: string;
  supervisor: Bun.Subprocess;
  /** Everything it has printed so far. */
  output(): string;
  processes(): RunningProcess[];
  /** As dev.env holds them. */
  variables(): Record<string, string>;
  /** The status of a call with the first key. */
  call(): Promise<number>;
  /** Stops it, if it still runs. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** The command that a user runs, without the installation of dependencies; its processes run from their binaries. */
export function runStack(home: string, port: number, env: Record<string, string> = {}): RunningStack {
  const printed = join(home, "..", `${Bun.randomUUIDv7()}.out`);
  const out = openSync(printed, "a");
  const supervisor = Bun.spawn([process.execPath, "--no-env-file", "dev/stack/main.ts"], {
    cwd: CHECKOUT,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      PARLEY_HOME: home,
      PORT: String(port),
      PARLEY_BINARIES: BINARIES,
      ...SHORT_LIVED,
      ...env,
    },
    stdio: ["ignore", out, out],
  });
  closeSync(out);
  const url = `http://127.0.0.1:${port}`;
  const read = (name: string) => readFileSync(join(home, name), "utf8");
  const stack: RunningStack = {
    url,
    home,
    supervisor,
    output: () => (existsSync(printed) ? readFileSync(printed, "utf8") : ""),
    processes: () => JSON.parse(read("stack.json")).processes,
    variables: () =>
      Object.fromEntries(
        read("dev.env")
          .match(/^\w+=.*$/gm)
          ?.map(pair) ?? [],
      ),
    call: async () => {
      const headers = { "x-api-key": stack.variables().PARLEY_API_KEY ?? "" };
      const response = await fetch(`${url}/v1/public/agents`, { headers });
      await response.arrayBuffer();
      return response.status;
    },
    [Symbol.asyncDispose]: async () => {
      await interrupt(stack);
    },
  };
  return stack;
}

/** Waits until a stack says that it is up. @throws what it printed when it ended instead. */
export async function isUp(stack: RunningStack): Promise<void> {
  const isUpNow = () => expect(stack.output()).toContain("Parley is up");
  await Promise.race([stack.supervisor.exited, eventually(isUpNow, UP_WITHIN_MS)]);
  isUpNow();
}

/** Stops it as Ctrl-C does; its exit code. */
export function interrupt(stack: RunningStack): Promise<number> {
  stack.supervisor.kill("SIGINT");
  return stack.supervisor.exited;
}

export function isAlive(pid: number): boolean {
  return identify(pid) !== null;
}

export interface TemporaryHome {
  path: string;
  /** Removes it, with what a stack keeps elsewhere; the stack must have ended. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** A home in a folder that everybody may enter, or in one only we may, as mktemp makes them. */
export async function temporaryHome(access: "open" | "private"): Promise<TemporaryHome> {
  const folder = await mkdtemp(join(tmpdir(), "parley-stack-"));
  if (access === "open") await chmod(folder, 0o755);
  const path = join(folder, "home");
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      const installation = Bun.file(join(path, "installation.json"));
      const { postgresFolder } = (await installation.exists()) ? await installation.json() : {};
      if (postgresFolder) await rm(postgresFolder, { recursive: true, force: true });
      await rm(folder, { recursive: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

function pair(line: string): [string, string] {
  const at = line.indexOf("=");
  return [line.slice(0, at), line.slice(at + 1)];
}
