import { setImmediate } from "node:timers/promises";
import type { Authority } from "@parley/shared/tls/authority";
import { Cluster, Redis } from "ioredis";
import { decisionOf } from "./decision.ts";
import type { RateLimiter } from "./limiter.ts";
import { takeScript } from "./take-script.ts";

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_DELAY_MAX_MS = 1_000;
/** A connection without an answer for this long is dead (its host vanished silently) and is replaced. */
const SILENCE_MAX_MS = 2_000;

/** A process starved of CPU for 100 ms must not count as an outage, which would give every key a second limit. */
const COMMAND_TIMEOUT_MS = 500;

export interface RedisLimiterOptions {
  /** redis:// URL of one server, or comma-separated URLs of some nodes of a Redis Cluster. */
  url: string;
  /**
   * The trusted certificate authority, which makes every connection TLS. Without one, rediss:// trusts the system's
   * authorities.
   */
  authority?: Authority | undefined;
  /** Only requests in progress when Redis fails wait this long. */
  commandTimeoutMs?: number;
  /** Only for tests: Unix time in ms, instead of Redis's own clock. */
  clock?: () => number;
}

/** `take` throws at once while Redis is disconnected, and after `commandTimeoutMs` without an answer; it never queues. */
export interface RedisLimiter extends RateLimiter {
  close(): void;
}

/**
 * Limits across all gateways with one round trip per take; concurrent takes of one key share it. Resolves once
 * connected, or after a second without a connection; reconnects forever.
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

  /** Unsent takes, by key. */
  const gathering = new Map<string, Takes>();

  /** Joins the unsent takes of a key, which are sent at the end of this turn of the event loop. */
  function gather(key: string, limit: number): Takes {
    const nowMs = clock?.();
    const known = gathering.get(key);
    if (known?.limit === limit && known.nowMs === nowMs) return known;
    const send = async () => {
      await setImmediate();
      if (gathering.get(key) === takes) gathering.delete(key);
      // The braces put everything that a key's script touches on one Redis Cluster node.
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

/** The named nodes lead to all others; the first one's user, password and scheme apply to all. */
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
  // Sends the takes of many keys in one write, which halves a take's CPU under load.
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
    // A demoted primary keeps its connections, but the name may already lead to the new one.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
  };
}

function reconnectDelayMs(times: number): number {
  return Math.min(50 * 2 ** times, RECONNECT_DELAY_MAX_MS) * (0.5 + Math.random() / 2);
}
