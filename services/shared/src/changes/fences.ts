import type { Database } from "../db/database.ts";
import { newUuid } from "../ids.ts";
import { batched } from "../rpc/batched.ts";

/** Lets a write wait until every process has told its subscribers: a fence is a notification that follows all changes. */
export interface Fences {
  /** Resolves once the subscribers of every process know about everything committed before the call. */
  settled(): Promise<void>;
  /** Reads a notification about fences. @returns the id of a fence to pass; null for any other notification */
  read(notification: string): string | null;
  /** Reports that this process's subscribers know about everything before a fence. */
  pass(fence: string, follower: string): void;
}

const FENCE = "fence ";
const PASSED = "passed ";
/** Writes that share a fence. */
const WRITES_MAX = 1_000;
/** A running process passes a fence within a lease; this much more is for notifications to arrive. */
const GRACE_MS = 100;

interface Fence {
  passed: Set<string>;
  onPassed(): void;
}

export function createFences(db: Database, leaseMs: number): Fences {
  const open = new Map<string, Fence>();

  async function pose(): Promise<void> {
    const id = newUuid();
    const fence: Fence = { passed: new Set(), onPassed: () => {} };
    open.set(id, fence);
    try {
      const followers = await beginFence(db, id);
      const missing = () => followers.filter((follower) => !fence.passed.has(follower));
      if (missing().length === 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      fence.onPassed = () => missing().length === 0 && resolve();
      const timer = setTimeout(resolve, leaseMs + GRACE_MS);
      await promise;
      clearTimeout(timer);
      if (missing().length > 0) await Bun.sleep(await cutOff(db, missing()));
    } finally {
      open.delete(id);
    }
  }

  const settled = batched<true, true>(async (writes) => {
    await pose();
    return writes;
  }, WRITES_MAX);

  return {
    settled: async () => {
      await settled(true);
    },
    read(notification) {
      if (notification.startsWith(FENCE)) return notification.slice(FENCE.length);
      if (notification.startsWith(PASSED)) {
        const [, id = "", follower = ""] = notification.split(" ");
        note(id, follower);
      }
      return null;
    },
    pass(id, follower) {
      if (open.has(id)) return note(id, follower);
      // If it gets lost, the writer cuts this process off.
      db`select pg_notify(current_schema() || '.changes', ${`${PASSED}${id} ${follower}`})`.catch(() => {});
    },
  };

  function note(id: string, follower: string): void {
    const fence = open.get(id);
    fence?.passed.add(follower);
    fence?.onPassed();
  }
}

/** @returns the processes that have to pass the fence */
async function beginFence(db: Database, id: string): Promise<string[]> {
  const rows = await db<{ follower: string }[]>`
    select follower, pg_notify(current_schema() || '.changes', ${FENCE + id}) from change_followers
    where held_until > clock_timestamp()`;
  return rows.map(({ follower }) => follower);
}

/** Lets processes renew no lease. @returns milliseconds until the last of their leases has ended */
async function cutOff(db: Database, followers: readonly string[]): Promise<number> {
  const rows = await db<{ leftMs: number }[]>`
    update change_followers set is_cut = true
    where follower = any(${followers as string[]}::uuid[]) and held_until > clock_timestamp()
    returning (extract(epoch from held_until - clock_timestamp()) * 1000)::float8 as left_ms`;
  return Math.max(0, ...rows.map(({ leftMs }) => Math.ceil(leftMs)));
}
