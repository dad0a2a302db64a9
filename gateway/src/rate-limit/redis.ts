import type { Authority } from "@parley/shared/tls/authority";
import { type ChainableCommander, Cluster, Redis } from "ioredis";
import { decisionOf } from "./decision.ts";
import type { RateLimiter } from "./limiter.ts";
import { takeScript } from "./take-script.ts";

const CONNECT_TIMEOUT_MS = 1_000;
const RECONNECT_DELAY_MAX_MS = 1_000;
/** A connection without an answer for this long is dead (its host vanished silently) and is replaced. */
const SILENCE_MAX_MS = 2_000;

/** A process starved of CPU for 100 ms must not count as an outage, which would give every key a second limit. */
const COMMAND_TIMEOUT_MS = 500;

interface RedisLimiterOptions {
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
interface RedisLimiter extends RateLimiter {
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

  /** Takes of this turn of the event loop, at the end of which they are sent: those of one key with one limit together. */
  let unsent = new Map<string, Takes>();

  function gather(key: string, limit: number): Takes {
    const nowMs = clock?.();
    const name = `${limit} ${nowMs} ${key}`;
    const known = unsent.get(name);
    if (known) return known;
    if (unsent.size === 0) setImmediate(sendAll);
    const takes: Takes = { key, limit, nowMs, count: 0, reply: Promise.withResolvers() };
    unsent.set(name, takes);
    return takes;
  }

  function sendAll(): void {
    const all = [...unsent.values()];
    unsent = new Map();
    if (redis instanceof Cluster) all.forEach(sendAlone);
    else void sendTogether(redis, all);
  }

  function sendAlone(takes: Takes): void {
    redis.take(...argumentsOf(takes)).then(takes.reply.resolve, takes.reply.reject);
  }

  return {
    async take(key, limit) {
      if (redis.status !== "ready") throw new Error(`Redis is not connected: ${lastError}`);
      const takes = gather(key, limit);
      const place = takes.count++;
      const [used, granted, waitMs, newestMs] = await takes.reply.promise;
      if (place >= granted) return decisionOf(limit, { used, waitMs, newestMs });
      return decisionOf(limit, { used: used - granted + place + 1, waitMs: 0, newestMs });
    },
    close: () => redis.disconnect(),
  };
}

interface Takes {
  key: string;
  limit: number;
  nowMs: number | undefined;
  count: number;
  reply: PromiseWithResolvers<Reply>;
}

type Reply = [used: number, granted: number, waitMs: number, newestMs: number];
type TakeArguments = [key: string, limit: number, wanted: number, ...nowMs: number[]];
type Takeable = { take(...given: TakeArguments): Promise<Reply> };
type Connection = (Redis | Cluster) & Takeable;

function argumentsOf({ key, limit, count, nowMs }: Takes): TakeArguments {
  // The braces put everything that a key's script touches on one Redis Cluster node.
  return [`parley:rl:{${key}}`, limit, count, ...(nowMs === undefined ? [] : [nowMs])];
}

/** In one write, which halves a take's CPU under load. The client's own pipelines would wait for each other's replies. */
async function sendTogether(redis: Redis, all: readonly Takes[]): Promise<void> {
  const pipeline = redis.pipeline() as ChainableCommander & { take(...given: TakeArguments): unknown };
  for (const takes of all) pipeline.take(...argumentsOf(takes));
  try {
    const replies = (await pipeline.exec()) ?? [];
    for (const [at, takes] of all.entries()) {
      const [error, reply] = replies[at] ?? [new Error("Redis did not reply")];
      if (error) takes.reply.reject(error);
      else takes.reply.resolve(reply as Reply);
    }
  } catch (error) {
    for (const { reply } of all) reply.reject(error);
  }
}

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
      // By node, as takes of several cannot be one pipeline.
      enableAutoPipelining: true,
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
