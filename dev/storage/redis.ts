import { Redis } from "ioredis";
import type { Command } from "../processes/child.ts";

/** The Redis server on PATH, or the compatible Valkey. */
export function findRedisServer(): string | null {
  return Bun.which("redis-server") ?? Bun.which("valkey-server");
}

/**
 * Runs Redis without persistence: its data (the last minute's requests) is not worth the writes.
 * @param where a loopback port, or the path of a socket
 */
export function redisCommand(server: string, where: number | string, log: string): Command {
  const listen =
    typeof where === "number"
      ? ["--port", String(where), "--bind", "127.0.0.1"]
      : ["--port", "0", "--unixsocket", where];
  const flags = [...listen, "--save", "", "--appendonly", "no"];
  return { args: [server, ...flags], cwd: "/", log, stopSignal: "SIGTERM" };
}

/** The address in the form of REDIS_URL. */
export function redisUrl(where: number | string): string {
  return typeof where === "number" ? `redis://127.0.0.1:${where}` : where;
}

/** @throws while Redis does not answer. */
export async function pingRedis(url: string): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, connectTimeout: 2_000 });
  redis.on("error", () => {});
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}
