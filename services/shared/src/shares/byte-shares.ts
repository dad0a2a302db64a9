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
  /** The budget of the whole process. */
  totalBytes: number;
  /** The share of one owner. Less than the total, so that one owner never blocks another. */
  ownerBytes: number;
  /** An owner's share while nobody else has asked for one in the last second; `ownerBytes` by default. */
  aloneBytes?: number;
  /** The share of the owner with the longest lasting backlog while others ask too; `ownerBytes` by default. */
  backlogBytes?: number;
  /**
   * The part of it that may be held for less than 25 ms; all of it by default. Work that lasts longer waits for something other
   * than a core, or for a core of a machine that is slow for everybody.
   */
  backlogYoungBytes?: number;
  /** Requests of one owner that may wait; with 0 a request that does not fit at once is refused. */
  waitingMax: number;
  /** How long a request may wait, in milliseconds; no limit by default. */
  waitMs?: number;
}

interface Waiting {
  bytes: number;
  grant(hold: Hold): void;
}

interface Owner {
  /** Bytes of all the owner's holds. */
  held: number;
  holds: number;
  /** When its holds began, if it matters. */
  begun: Set<{ bytes: number; atMs: number }>;
  waiting: Waiting[];
  /** Since when some have waited, whichever they were; null while none waits. */
  waitingSinceMs: number | null;
}

/** How long an owner's requests wait, without a moment when none does, until they are a backlog. */
const BACKLOG_MS = 100;
const YOUNG_MS = 25;
/** The most owners among which the longest backlog is looked for. */
const COMPARED_MAX = 32;

/**
 * Shares a budget of bytes among owners. A request larger than its owner's share is served when the owner holds nothing
 * else, and one larger than the budget when nobody holds anything, so every request is served eventually.
 */
export function byteShares(
  {
    what,
    totalBytes,
    ownerBytes,
    aloneBytes = ownerBytes,
    backlogBytes = ownerBytes,
    backlogYoungBytes = backlogBytes,
    waitingMax,
    waitMs,
  }: ByteShareSettings,
  { nowMs, after }: PassingTime = passingTime,
): ByteShares {
  const owners = new Map<string, Owner>();
  /** Owners with waiting requests, in the order of their turns. */
  const turns = new Set<string>();
  let total = 0;
  let looksAgain = false;

  /** Those who ask for these shares. */
  const company = createCompany({ nowMs });
  const heedsOthers = aloneBytes !== ownerBytes || backlogBytes !== ownerBytes;
  const heedsYoung = backlogYoungBytes !== backlogBytes;
  const hasBacklog = ({ waitingSinceMs }: Owner) => waitingSinceMs !== null && nowMs() - waitingSinceMs >= BACKLOG_MS;
  function shareOf(ownerId: string, owner: Owner): number {
    if (!heedsOthers) return ownerBytes;
    if (company.isAlone(ownerId)) return aloneBytes;
    return hasBacklog(owner) && isLongest(owner) ? backlogShareOf(owner) : ownerBytes;
  }

  function backlogShareOf({ begun, held }: Owner): number {
    if (!heedsYoung) return backlogBytes;
    const bornMs = nowMs() - YOUNG_MS;
    const young = begun.values().reduce((sum, { bytes, atMs }) => (atMs > bornMs ? sum + bytes : sum), 0);
    return Math.min(backlogBytes, held - young + backlogYoungBytes);
  }

  /** Nothing else might tell that what is held has become old. */
  function lookAgain(): void {
    if (!heedsYoung || looksAgain) return;
    looksAgain = true;
    after(YOUNG_MS, () => {
      looksAgain = false;
      serve();
    });
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
    return new ServiceError("rate_limited", `This account has too many ${what} in progress, try again`, {
      retryAfterMs: 1_000,
    });
  }

  /** Grants what fits. No owner overtakes one that waits for the process's budget, because a large request would then wait forever. */
  function serve(): void {
    for (const ownerId of turns) {
      const owner = ownerOf(ownerId);
      const next = owner.waiting[0];
      if (!next) continue;
      if (!fitsShare(ownerId, owner, next.bytes)) {
        lookAgain();
        continue;
      }
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
    const birth = { bytes, atMs: heedsYoung ? nowMs() : 0 };
    if (heedsYoung) owner.begun.add(birth);
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
        owner.begun.delete(birth);
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
    const owner: Owner = { held: 0, holds: 0, begun: new Set(), waiting: [], waitingSinceMs: null };
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
