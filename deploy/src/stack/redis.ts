import { Redis } from "ioredis";
import type { Command } from "./child.ts";

/** The Redis server on PATH, or the compatible Valkey. */
export function findRedisServer(): string | null {
  return Bun.which("redis-server") ?? Bun.which("valkey-server");
}

/** A Redis that keeps nothing on disk: what is in it (the last minute's requests) is worth less than the writes. */
export function redisCommand(server: string, port: number, log: string): Command {
  const flags = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  return { args: [server, ...flags], cwd: "/", log, stopSignal: "SIGTERM" };
}

export function redisUrl(port: number): string {
  return `redis://127.0.0.1:${port}`;
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
