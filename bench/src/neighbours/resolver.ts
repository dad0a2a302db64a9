import { join } from "node:path";
import { type NameServer, startNameServer } from "@parley/shared/testing/network/name-server";
import type { Run } from "../run.ts";

/** Names below the first resolve to loopback; queries for names below the second get no answer. */
export const ANSWERED = "answers.test";
export const STALLED = "stalls.test";

const ADDRESS = "127.0.0.53";
const MARK = "BENCH_OWN_RESOLVER";
/** Bun's `fetch` makes 256 concurrent requests by default, which is too few while everything hangs. */
const ENV = { BUN_CONFIG_MAX_HTTP_REQUESTS: "10000" };

/**
 * Runs this command again in a child with its own /etc/resolv.conf, where the machine permits, so that every process that
 * it starts uses the benchmark's name server.
 * @returns the child's exit code; null in the child
 */
export async function withOwnResolver(run: Run): Promise<number | null> {
  if (process.env[MARK] !== undefined) return null;
  const file = join(run.folder, "resolv.conf");
  await Bun.write(file, `nameserver ${ADDRESS}\n`);
  const mount = ["unshare", "--mount", "sh", "-c", `mount --bind ${file} /etc/resolv.conf && exec "$@"`, "sh"];
  const isPermitted = process.getuid?.() === 0 && Bun.spawnSync([...mount, "true"]).exitCode === 0;
  if (!isPermitted) console.log("names cannot be made to stall here: that requires root and unshare");
  const child = Bun.spawn([...(isPermitted ? mount : []), process.execPath, ...process.argv.slice(1)], {
    env: { ...process.env, ...ENV, [MARK]: isPermitted ? "1" : "0" },
    stdio: ["ignore", "inherit", "inherit"],
  });
  run.onEnd(async () => {
    child.kill("SIGTERM");
    await child.exited;
  });
  return child.exited;
}

/** Returns null if this process has no resolver of its own. */
export async function startResolver(run: Run): Promise<NameServer | null> {
  if (process.env[MARK] !== "1") return null;
  const server = await startNameServer(
    (name) => {
      if (name.endsWith(STALLED)) return "silence";
      return name.endsWith(ANSWERED) ? "127.0.0.1" : null;
    },
    { address: ADDRESS, port: 53 },
  );
  run.onEnd(async () => server[Symbol.dispose]());
  return server;
}
