import { cancelled, ServiceError } from "../errors.ts";

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
  waiting: Waiting[];
}

/**
 * Shares a budget of bytes among owners. A request larger than its owner's share is served when the owner holds nothing
 * else, and one larger than the budget when nobody holds anything, so every request is served eventually.
 */
export function byteShares({
  what,
  whose = "This account",
  totalBytes,
  ownerBytes,
  waitingMax,
  waitMs,
}: ByteShareSettings): ByteShares {
  const owners = new Map<string, Owner>();
  /** Owners with waiting requests, in the order of their turns. */
  const turns = new Set<string>();
  let total = 0;

  const fitsShare = (owner: Owner, bytes: number) => owner.holds === 0 || owner.held + bytes <= ownerBytes;
  const fitsTotal = (bytes: number) => total === 0 || total + bytes <= totalBytes;

  async function hold(ownerId: string, bytes: number, gone?: AbortSignal): Promise<Hold> {
    if (gone?.aborted) throw cancelled();
    const owner = ownerOf(ownerId);
    const { promise, resolve, reject } = Promise.withResolvers<Hold>();
    const waiting: Waiting = { bytes, grant: resolve };
    owner.waiting.push(waiting);
    turns.add(ownerId);
    serve();
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
    const owner = ownerOf(ownerId);
    const fits = turns.size === 0 ? fitsTotal(bytes) : totalBytes === Number.POSITIVE_INFINITY;
    if (owner.waiting.length === 0 && fits && fitsShare(owner, bytes)) return granted(ownerId, owner, bytes);
    forgetIdle(ownerId, owner);
    return null;
  }

  function tooMany(): ServiceError {
    return new ServiceError("rate_limited", `${whose} has too many ${what} in progress. Try again.`, {
      retryAfterMs: 1_000,
    });
  }

  /** Grants what fits. No owner overtakes one that waits for the process's budget, because a large request would then wait forever. */
  function serve(): void {
    for (const ownerId of turns) {
      const owner = ownerOf(ownerId);
      const next = owner.waiting[0];
      if (!next) continue;
      if (!fitsShare(owner, next.bytes)) continue;
      if (!fitsTotal(next.bytes)) return;
      owner.waiting.shift();
      turns.delete(ownerId);
      // Iterating over a set also visits elements added in the meantime, at the end.
      if (owner.waiting.length > 0) turns.add(ownerId);
      next.grant(granted(ownerId, owner, next.bytes));
    }
  }

  function granted(ownerId: string, owner: Owner, bytes: number): Hold {
    let held = bytes;
    let isReleased = false;
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
    const owner: Owner = { held: 0, holds: 0, waiting: [] };
    owners.set(ownerId, owner);
    return owner;
  }

  function forgetIdle(ownerId: string, owner: Owner): void {
    if (owner.waiting.length > 0) return;
    turns.delete(ownerId);
    if (owner.holds === 0) owners.delete(ownerId);
  }

  return { hold, tryHold, heldBytes: () => total };
}
