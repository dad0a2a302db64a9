import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@parley/testkit/network/free-port";
import type { Subprocess } from "bun";

const START_TIMEOUT_MS = 10_000;

export interface TestRedis {
  url: string;
  /** As a crash: SIGKILL, and nothing is kept. */
  kill(): Promise<void>;
  /** On the same port, after `kill`. */
  restart(): Promise<void>;
  /** Stops answering with its connections open, as a hung host does. */
  freeze(): void;
  thaw(): void;
  remove(): Promise<void>;
}

type Server = Subprocess<"ignore", "pipe", "inherit">;

/** A Redis of this test's own, without persistence, in a directory of its own. Throws when no server is on PATH. */
export async function startRedis(flagsFor: (port: number) => readonly string[] = () => []): Promise<TestRedis> {
  const binary = Bun.which("redis-server") ?? Bun.which("valkey-server");
  if (!binary)
    throw new Error("Neither redis-server nor valkey-server is on PATH: install one (apt-get install redis-server)");
  const directory = await mkdtemp(join(tmpdir(), "parley-redis-"));
  const port = await freePort();
  const flags = flagsFor(port);
  let server = await spawnServer(binary, port, directory, flags);

  async function kill(): Promise<void> {
    server.kill("SIGKILL");
    await server.exited;
  }

  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    async restart() {
      server = await spawnServer(binary, port, directory, flags);
    },
    freeze: () => server.kill("SIGSTOP"),
    thaw: () => server.kill("SIGCONT"),
    async remove() {
      await kill();
      await rm(directory, { recursive: true });
    },
  };
}

async function spawnServer(binary: string, port: number, directory: string, flags: readonly string[]): Promise<Server> {
  const persistence = ["--save", "", "--appendonly", "no"];
  const command = [binary, "--bind", "127.0.0.1", "--port", `${port}`, "--dir", directory, ...persistence, ...flags];
  const server: Server = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const late = setTimeout(() => server.kill("SIGKILL"), START_TIMEOUT_MS);
  const log = await logUntil(server, "Ready to accept connections");
  clearTimeout(late);
  if (log !== null) throw new Error(`${binary} did not start on port ${port}:\n${log}`);
  return server;
}

/** Null once `text` was logged; the whole log when the server ended without it. */
async function logUntil(server: Server, text: string): Promise<string | null> {
  const reader = server.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let log = "";
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    log += chunk.value;
    if (log.includes(text)) return null;
  }
  return log;
}
