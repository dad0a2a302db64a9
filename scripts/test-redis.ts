import { findRedisServer } from "../dev/storage/redis.ts";

/**
 * The Redis server for the tests: the one on PATH, otherwise Debian's, which is installed if possible.
 * @throws one sentence that says what to do
 */
export async function obtainRedisServer(): Promise<string> {
  const found = findRedisServer();
  if (found) return found;
  if (process.getuid?.() === 0 && Bun.which("apt-get")) {
    console.log("no redis-server on PATH: installing Debian's");
    await run("apt-get", "update");
    await run("apt-get", "install", "--yes", "--no-install-recommends", "redis-server");
    const installed = findRedisServer();
    if (installed) return installed;
  }
  throw new Error(
    "The tests need Redis: put redis-server or valkey-server on PATH, or run as root on Debian to have it installed",
  );
}

/** Ignores the result, because the caller checks PATH afterwards; errors go to the terminal. */
async function run(...command: string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  await Bun.spawn(command, { env, stdio: ["ignore", "ignore", "inherit"] }).exited;
}
