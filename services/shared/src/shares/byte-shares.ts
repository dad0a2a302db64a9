import { cancelled, ServiceError } from "../errors.ts";
import { createCompany } from "./company.ts";
import { type PassingTime, passingTime } from "./passing-time.ts";

/** Bytes of a process's memory that one owner occupies until they are released. */
export interface Hold {
  /** Bytes held now. */
  readonly bytes: number;
  /**
   * Takes more bytes without waiting.
   * @returns false, with nothing taken, when they exceed the owner's share or what the process has left
   */
  grow(bytes: number): boolean;
  /** Releases all but this many bytes. Does nothing if fewer are held. */
  shrink(bytes: number): void;
  /** Releases everything. Later calls do nothing. */
  release(): void;
}

export interface ByteShares {
  /**
   * Waits until the bytes fit. Owners take turns, and within an owner requests are served in order.
   * @param bytes to hold, at least 0
   * @param gone drops the request while it waits
   * @throws ServiceError rate_limited when too many requests of the owner wait already, or this one waited too long; cancelled
   *   when `gone` fires
   */
  hold(ownerId: string, bytes: number, gone?: AbortSignal): Promise<Hold>;
  /** Holds the bytes if they fit at once and none of the owner's requests waits; else null. */
  tryHold(ownerId: string, bytes: number): Hold | null;
  /** Bytes held by all owners, for metrics. */
  heldBytes(): number;
}

export interface ByteShareSettings {
  /** The use of the bytes, in the plural, for the error message. */
  what: string;
  /** Whose share it is, for the error message; "This account" by default. */
  whose?: string;
  /** The budget of the whole process. */
  totalBytes: number;
  /** The share of one owner. Less than the total, so that one owner never blocks another. */
  ownerBytes: number;
  /** An owner's share while nobody else has asked for one in the last second; `ownerBytes` by default. */
  aloneBytes?: number;
  /** The share of the owner with the longest lasting backlog while others ask too; `ownerBytes` by default. */
  backlogBytes?: number;
  /** How the requests of that owner are also spaced; not at all by default. */
  backlogSpacing?: Spacing | undefined;
  /** Requests of one owner that may wait; with 0 a request that does not fit at once is refused. */
  waitingMax: number;
  /** How long a request may wait, in milliseconds; no limit by default. */
  waitMs?: number;
}

/**
 * After a request has begun, the next begins when `times` the time that it took has passed, but at the latest after `maxMs`. So quick
 * work keeps a core busy for a part of the time at most: for half of it with 2. Work that lasts longer waits for something other than a
 * core, or for a core of a machine that is slow for everybody.
 */
export interface Spacing {
  times: number;
  maxMs: number;
}

interface Waiting {
  bytes: number;
  grant(hold: Hold): void;
}

interface Owner {
  /** Bytes of all the owner's holds. */
  held: number;
  holds: number;
  /** The hold that began last, if requests are spaced. */
  latest: { beganMs: number; endedMs: number | null } | null;
  waiting: Waiting[];
  /** Since when some have waited, whichever they were; null while none waits. */
  waitingSinceMs: number | null;
}

/** How long an owner's requests wait, without a moment when none does, until they are a backlog. */
const BACKLOG_MS = 100;
/** The most owners among which the longest backlog is looked for. */
const COMPARED_MAX = 32;

/**
 * Shares a budget of bytes among owners. A request larger than its owner's share is served when the owner holds nothing
 * else, and one larger than the budget when nobody holds anything, so every request is served eventually.
 */
export function byteShares(
  {
    what,
    whose = "This account",
    totalBytes,
    ownerBytes,
    aloneBytes = ownerBytes,
    backlogBytes = ownerBytes,
    backlogSpacing,
    waitingMax,
    waitMs,
  }: ByteShareSettings,
  { nowMs, after }: PassingTime = passingTime,
): ByteShares {
  const owners = new Map<string, Owner>();
  /** Owners with waiting requests, in the order of their turns. */
  const turns = new Set<string>();
  let total = 0;
  /** When a request that is too soon is looked at again. */
  let looksAtMs = Number.POSITIVE_INFINITY;

  /** Those who ask for these shares. */
  const company = createCompany({ nowMs });
  const heedsOthers = aloneBytes !== ownerBytes || backlogBytes !== ownerBytes || backlogSpacing !== undefined;
  function shareOf(ownerId: string, owner: Owner): number {
    if (isHeldBack(ownerId, owner)) return backlogBytes;
    return heedsOthers && company.isAlone(ownerId) ? aloneBytes : ownerBytes;
  }

  /** Whether the owner has the longest lasting backlog while others ask too. */
  function isHeldBack(ownerId: string, owner: Owner): boolean {
    const { waitingSinceMs } = owner;
    if (!heedsOthers || waitingSinceMs === null || nowMs() - waitingSinceMs < BACKLOG_MS) return false;
    return !company.isAlone(ownerId) && isLongest(owner);
  }

  /** Whether nobody else has more requests waiting. When a machine is slow, everybody has a backlog. */
  function isLongest({ waiting }: Owner): boolean {
    let compared = 0;
    for (const ownerId of turns) {
      if (ownerOf(ownerId).waiting.length > waiting.length) return false;
      if (++compared === COMPARED_MAX) return true;
    }
    return true;
  }
  const fitsShare = (ownerId: string, owner: Owner, bytes: number) =>
    owner.holds === 0 || owner.held + bytes <= shareOf(ownerId, owner);
  const fitsTotal = (bytes: number) => total === 0 || total + bytes <= totalBytes;

  /** Whether the owner's next request has to wait for its time; if so, looks again then. */
  function isTooSoon(ownerId: string, owner: Owner): boolean {
    if (!backlogSpacing || !owner.latest || !isHeldBack(ownerId, owner)) return false;
    const { times, maxMs } = backlogSpacing;
    const { beganMs, endedMs } = owner.latest;
    const spaceMs = endedMs === null ? maxMs : Math.min(times * (endedMs - beganMs), maxMs);
    const dueMs = beganMs + spaceMs;
    const leftMs = dueMs - nowMs();
    if (leftMs <= 0) return false;
    if (dueMs < looksAtMs) {
      looksAtMs = dueMs;
      after(leftMs, () => {
        looksAtMs = Number.POSITIVE_INFINITY;
        serve();
      });
    }
    return true;
  }

  async function hold(ownerId: string, bytes: number, gone?: AbortSignal): Promise<Hold> {
    if (gone?.aborted) throw cancelled();
    if (heedsOthers) company.enter(ownerId);
    const owner = ownerOf(ownerId);
    const { promise, resolve, reject } = Promise.withResolvers<Hold>();
    const waiting: Waiting = { bytes, grant: resolve };
    owner.waiting.push(waiting);
    turns.add(ownerId);
    serve();
    if (heedsOthers && owner.waiting.length > 0) owner.waitingSinceMs ??= nowMs();
    if (!owner.waiting.includes(waiting)) return promise;
    const giveUp = (error: ServiceError) => {
      const at = owner.waiting.indexOf(waiting);
      if (at < 0) return;
      owner.waiting.splice(at, 1);
      forgetIdle(ownerId, owner);
      reject(error);
      // The request that left may have blocked the others.
      serve();
    };
    if (owner.waiting.length > waitingMax) giveUp(tooMany());
    const leave = () => giveUp(cancelled());
    gone?.addEventListener("abort", leave);
    const timer = waitMs === undefined ? undefined : setTimeout(() => giveUp(tooMany()), waitMs);
    return promise.finally(() => {
      gone?.removeEventListener("abort", leave);
      clearTimeout(timer);
    });
  }

  function tryHold(ownerId: string, bytes: number): Hold | null {
    if (heedsOthers) company.enter(ownerId);
    const owner = ownerOf(ownerId);
    const fits = turns.size === 0 ? fitsTotal(bytes) : totalBytes === Number.POSITIVE_INFINITY;
    if (owner.waiting.length === 0 && fits && fitsShare(ownerId, owner, bytes)) return granted(ownerId, owner, bytes);
    forgetIdle(ownerId, owner);
    return null;
  }

  function tooMany(): ServiceError {
    return new ServiceError("rate_limited", `${whose} has too many ${what} in progress, try again`, {
      retryAfterMs: 1_000,
    });
  }

  /** Grants what fits. No owner overtakes one that waits for the process's budget, because a large request would then wait forever. */
  function serve(): void {
    for (const ownerId of turns) {
      const owner = ownerOf(ownerId);
      const next = owner.waiting[0];
      if (!next) continue;
      if (!fitsShare(ownerId, owner, next.bytes) || isTooSoon(ownerId, owner)) continue;
      if (!fitsTotal(next.bytes)) return;
      owner.waiting.shift();
      turns.delete(ownerId);
      // Iterating over a set also visits elements added in the meantime, at the end.
      if (owner.waiting.length > 0) turns.add(ownerId);
      else owner.waitingSinceMs = null;
      next.grant(granted(ownerId, owner, next.bytes));
    }
  }

  function granted(ownerId: string, owner: Owner, bytes: number): Hold {
    let held = bytes;
    let isReleased = false;
    const times = backlogSpacing ? { beganMs: nowMs(), endedMs: null as number | null } : null;
    owner.latest = times;
    owner.holds++;
    take(owner, bytes);
    return {
      get bytes() {
        return held;
      },
      grow: (more) => {
        if (isReleased || owner.held + more > ownerBytes || total + more > totalBytes) return false;
        held += more;
        take(owner, more);
        return true;
      },
      shrink: (left) => {
        if (isReleased || left >= held) return;
        take(owner, left - held);
        held = left;
        serve();
      },
      release: () => {
        if (isReleased) return;
        isReleased = true;
        owner.holds--;
        if (times) times.endedMs = nowMs();
        take(owner, -held);
        forgetIdle(ownerId, owner);
        serve();
      },
    };
  }

  function take(owner: Owner, bytes: number): void {
    owner.held += bytes;
    total += bytes;
  }

  function ownerOf(ownerId: string): Owner {
    const known = owners.get(ownerId);
    if (known) return known;
    const owner: Owner = { held: 0, holds: 0, latest: null, waiting: [], waitingSinceMs: null };
    owners.set(ownerId, owner);
    return owner;
  }

  function forgetIdle(ownerId: string, owner: Owner): void {
    if (owner.waiting.length > 0) return;
    owner.waitingSinceMs = null;
    turns.delete(ownerId);
    if (owner.holds === 0) owners.delete(ownerId);
  }

  return { hold, tryHold, heldBytes: () => total };
}
