import { setImmediate } from "node:timers/promises";
import type { Authority } from "@parley/shared/authority";
import { Cluster, Redis } from "ioredis";
import type { RateLimiter } from "./limiter.ts";
import { takeScript } from "./take-script.ts";
import { decisionOf } from "./window.ts";

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_DELAY_MAX_MS = 1_000;
/** A connection that owes an answer for this long is dead (its host vanished without a word) and is made anew. */
const SILENCE_MAX_MS = 2_000;

/** A process starved of CPU for 100 ms is no lost Redis, and taking it for one hands every key a second limit. */
const COMMAND_TIMEOUT_MS = 500;

export interface RedisLimiterOptions {
  /** redis:// of one server, or of some nodes of a Redis Cluster with commas between them. */
  url: string;
  /** Whose certificates are believed; with one every connection is TLS. Without one rediss:// believes the system's authorities. */
  authority?: Authority | undefined;
  /** Only requests under way when Redis is lost wait this long. */
  commandTimeoutMs?: number;
  /** Only for tests: Unix ms in place of Redis's own time. */
  clock?: () => number;
}

/** `take` throws at once while Redis is not connected, and after `commandTimeoutMs` without an answer; it never queues. */
export interface RedisLimiter extends RateLimiter {
  close(): void;
}

/**
 * Limits across all gateways, one round trip a take, which those of one key that come together share. Resolves when connected or
 * not within a second; reconnects for ever.
 */
export async function redisLimiter({
  url,
  authority,
  commandTimeoutMs = COMMAND_TIMEOUT_MS,
  clock,
}: RedisLimiterOptions): Promise<RedisLimiter> {
  const redis = connection(url, ofEachNode(commandTimeoutMs, authority));
  let lastError = "connection closed";
  redis.on("error", (error: Error) => {
    lastError = error.message;
  });
  await Promise.race([redis.connect().catch(() => undefined), Bun.sleep(CONNECT_TIMEOUT_MS)]);

  /** By key, its takes that have not left yet. */
  const gathering = new Map<string, Takes>();

  /** The takes to be one of: more are added until this turn of the event loop is over. */
  function gather(key: string, limit: number): Takes {
    const nowMs = clock?.();
    const known = gathering.get(key);
    if (known?.limit === limit && known.nowMs === nowMs) return known;
    const send = async () => {
      await setImmediate();
      if (gathering.get(key) === takes) gathering.delete(key);
      // The braces keep a key whole on one Redis Cluster node whatever its script touches.
      const redisKey = `parley:rl:{${key}}`;
      return nowMs === undefined
        ? redis.take(redisKey, limit, takes.count)
        : redis.take(redisKey, limit, takes.count, nowMs);
    };
    const takes: Takes = { limit, nowMs, count: 0, reply: send() };
    gathering.set(key, takes);
    return takes;
  }

  return {
    async take(key, limit) {
      if (redis.status !== "ready") throw new Error(`Redis is not connected: ${lastError}`);
      const takes = gather(key, limit);
      const place = takes.count++;
      const [used, granted, waitMs, newestMs] = await takes.reply;
      if (place >= granted) return decisionOf(limit, { used, waitMs, newestMs });
      return decisionOf(limit, { used: used - granted + place + 1, waitMs: 0, newestMs });
    },
    close: () => redis.disconnect(),
  };
}

interface Takes {
  limit: number;
  nowMs: number | undefined;
  count: number;
  reply: Promise<Reply>;
}

type Reply = [used: number, granted: number, waitMs: number, newestMs: number];
type Connection = (Redis | Cluster) & {
  take(key: string, limit: number, wanted: number, nowMs?: number): Promise<Reply>;
};

function connection(url: string, ofNode: ReturnType<typeof ofEachNode>): Connection {
  const [first = "", ...others] = url.split(",");
  const made =
    others.length > 0
      ? cluster([first, ...others], ofNode)
      : new Redis(first, { ...OF_THE_CLIENT, ...ofNode, retryStrategy: reconnectDelayMs });
  return made as unknown as Connection;
}

/** The named nodes lead to all others; the first one's user, password and scheme go for all. */
function cluster(urls: readonly string[], ofNode: ReturnType<typeof ofEachNode>): Cluster {
  const nodes = urls.map((url) => new URL(url));
  const [{ username, password, protocol } = new URL("redis://none")] = nodes;
  return new Cluster(
    nodes.map(({ hostname, port }) => ({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || 6379 })),
    {
      ...OF_THE_CLIENT,
      redisOptions: {
        ...ofNode,
        ...(username && { username: decodeURIComponent(username) }),
        ...(password && { password: decodeURIComponent(password) }),
        ...(protocol === "rediss:" && { tls: ofNode.tls ?? {} }),
      },
      clusterRetryStrategy: reconnectDelayMs,
    },
  );
}

const OF_THE_CLIENT = {
  scripts: { take: { lua: takeScript, numberOfKeys: 1 } },
  lazyConnect: true,
  enableOfflineQueue: false,
  // Takes of many keys in one tick go out in one write: half of a take's CPU when many come at once.
  enableAutoPipelining: true,
};

function ofEachNode(commandTimeout: number, authority: Authority | undefined) {
  return {
    ...(authority && { tls: authority }),
    connectionName: "parley-gateway",
    disableClientInfo: true,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_MAX_MS,
    // A primary that was demoted keeps its connections: the name may already lead to the new one.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
  };
}

function reconnectDelayMs(times: number): number {
  return Math.min(50 * 2 ** times, RECONNECT_DELAY_MAX_MS) * (0.5 + Math.random() / 2);
}
