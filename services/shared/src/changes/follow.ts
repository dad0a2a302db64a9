import type { Changes, WatchState } from "@parley/proto/parley/common/v1/changes.ts";
import type { Database, Sql } from "../db/database.ts";
import { type Listening, openListening } from "../db/listening.ts";
import { ServiceError } from "../errors.ts";
import { newUuid } from "../ids.ts";
import type { Logger } from "../log.ts";
import { createFences } from "./fences.ts";
import { createSubscribers } from "./subscribers.ts";

/** Tells the subscribers of this process about every change of the rows that `tell_change` (table.sql) watches. */
export interface ChangeFollower {
  /** The work of a watch RPC. @throws ServiceError unavailable when the process stops */
  watch(requests: AsyncIterable<WatchRequest>): AsyncIterable<WatchResponse>;
  /**
   * For a write after its commit: resolves once no subscriber of any process uses what the write changed.
   * Takes milliseconds, or 250 ms for a subscriber and 600 ms for a process that hangs.
   */
  settled(): Promise<void>;
  /** Ends the streams and waits until no subscriber holds a lease. */
  stop(): Promise<void>;
}

/** The fields that the requests and responses of every watch RPC share. */
export interface WatchRequest {
  state: WatchState | undefined;
}
export interface WatchResponse {
  changes: Changes;
}

export interface FollowSettings {
  db: Database;
  /** URL of a direct connection to the same database. */
  url: string;
  log: Logger;
  /** Shown in pg_stat_activity. */
  name: string;
}

/** How long a subscriber may use what it remembers without a message, in milliseconds. */
export const LEASE_MS = 250;
/** A lease survives a lost beat. More beats would only wake processes that have nothing else to do. */
const BEAT_MS = 110;
/** Interval between checks of the connection while nobody asks for a lease. */
const IDLE_BEAT_MS = 1_000;
const RETRY_MS = [50, 100, 250, 500, 1_000, 5_000] as const;

/** Marks a transaction whose writer calls `settled` afterwards. Any other write waits until all leases have ended. */
export async function willSettle(tx: Sql): Promise<void> {
  await tx`select set_config('parley.waits_for_subscribers', '1', true)`;
}

/** Wraps a handler so that it answers once no subscriber uses what its write changed. */
export function settling<I extends unknown[], R>(
  changes: Pick<ChangeFollower, "settled">,
  handler: (...given: I) => Promise<R>,
): (...given: I) => Promise<R> {
  return async (...given) => {
    const response = await handler(...given);
    await changes.settled();
    return response;
  };
}

/** Follows changes over one listening connection, from the first subscriber on. */
export function followChanges({ db, url, log, name }: FollowSettings): ChangeFollower {
  let beatNow = () => {};
  // A reader that is used again after a pause does not wait for the next beat.
  const subscribers = createSubscribers(LEASE_MS, () => beatNow());
  const fences = createFences(db, LEASE_MS);
  const stopping = Promise.withResolvers<void>();
  let stopped = false;
  let running: Promise<void> | null = null;
  /** Id of this process in the table; a new one after it was cut off. */
  let follower = "";
  let gaps = -1;
  let beatAt = Number.NEGATIVE_INFINITY;

  const hear = (text: string) => {
    const fence = fences.read(text);
    if (fence) subscribers.settled().then(() => fences.pass(fence, follower));
    else if (text.startsWith("[")) {
      const [ownerId = "", name = ""] = JSON.parse(text) as string[];
      subscribers.tell({ ownerId, name });
    }
  };

  const beat = async (connection: Sql) => {
    const sentAt = performance.now();
    if (!subscribers.areAsking() && follower !== "") {
      if (sentAt - beatAt < IDLE_BEAT_MS) return;
      beatAt = sentAt;
      return connection`select 1`;
    }
    beatAt = sentAt;
    const held = await holdOn(connection, follower);
    if (!held) {
      follower = newUuid();
      await register(connection, follower);
      // Grants no lease before the next beat.
      return subscribers.tellEverything();
    }
    if (held.gaps !== gaps) subscribers.tellEverything();
    gaps = held.gaps;
    subscribers.extend(sentAt + LEASE_MS);
  };

  const follow = async (listening: Listening) => {
    await Promise.race([listening.lost, stopping.promise]);
    if (!stopped) {
      log.warn("lost the connection that reports changes, reconnecting");
      await listening.end();
      return;
    }
    // Keeps passing fences for other processes' writes until the last lease has ended.
    await subscribers.settled();
    await forget(db, follower).catch(() => {});
    await listening.end();
  };

  const run = async () => {
    for (let failures = 0; !stopped; ) {
      try {
        follower = "";
        gaps = -1;
        const channel = await channelOf(db);
        const listening = await openListening({
          url,
          db,
          channel,
          name,
          onNotification: hear,
          beat,
          beatMs: BEAT_MS,
        });
        failures = 0;
        beatNow = listening.beatNow;
        await follow(listening);
      } catch (err) {
        if (failures++ === 0) log.warn({ err }, "cannot report changes, so subscribers ask at each use");
      }
      if (!stopped) await Promise.race([Bun.sleep(RETRY_MS[failures] ?? 5_000), stopping.promise]);
    }
  };

  return {
    async *watch(requests) {
      if (stopped) throw unavailable();
      running ??= run();
      for await (const changes of subscribers.serve(statesOf(requests))) yield { changes };
    },
    settled: fences.settled,
    async stop() {
      stopped = true;
      subscribers.end(unavailable());
      stopping.resolve();
      await running;
    },
  };
}

async function* statesOf(requests: AsyncIterable<WatchRequest>): AsyncGenerator<WatchState> {
  for await (const { state } of requests) if (state) yield state;
}

async function channelOf(db: Database): Promise<string> {
  const [row] = await db<{ schema: string }[]>`select current_schema() as schema`;
  return `${row?.schema}.changes`;
}

async function register(sql: Sql, follower: string): Promise<void> {
  await sql`delete from change_followers where held_until < clock_timestamp() - interval '1 minute'`;
  await sql`insert into change_followers (follower, held_until) values (${follower}, clock_timestamp())`;
}

/** Returns null for a follower that is unknown or was cut off. */
async function holdOn(sql: Sql, follower: string): Promise<{ gaps: number } | null> {
  if (follower === "") return null;
  const [held] = await sql<{ gaps: string }[]>`
    update change_followers set held_until = clock_timestamp() + ${LEASE_MS} * interval '1 millisecond'
    where follower = ${follower} and not is_cut
    returning (select last_value from change_gaps) as gaps`;
  return held ? { gaps: Number(held.gaps) } : null;
}

async function forget(sql: Sql, follower: string): Promise<void> {
  if (follower !== "") await sql`delete from change_followers where follower = ${follower}`;
}

function unavailable(): ServiceError {
  return new ServiceError("unavailable", "The service is stopping. Try again.", { retryAfterMs: 1_000 });
}
