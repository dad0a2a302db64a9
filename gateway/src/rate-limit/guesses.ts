import { ServiceError } from "@parley/shared/errors";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { LRUCache } from "lru-cache";
import type { RateLimiter } from "./limiter.ts";
import { refuseOverRate } from "./refuse.ts";

/** Limits guesses of keys, sessions, ids and signatures. To find one wrong, other processes and the database are asked. */
export interface Guesses {
  /**
   * Call it before anything is looked up.
   * @param of what is guessed, and the client's address; the key of the count
   * @param gone fires when the client no longer waits
   * @returns null while the address was not wrong too often; otherwise its turn, which lasts until `end`
   * @throws ServiceError rate_limited when too many requests of the address wait for their turn, cancelled when `gone` fires
   */
  enter(of: string, gone: () => AbortSignal): Promise<Turn> | null;
  /** Counts a wrong guess. @throws ServiceError rate_limited with `detail` if there were too many in a minute */
  count(of: string, detail: string): Promise<void>;
}

export interface Turn {
  end(wasWrong: boolean): void;
}

export interface GuessSettings {
  limiter: RateLimiter;
  /** Of an address, after each wrong guess of its own, in milliseconds. */
  pauseMs?: number;
  /** Milliseconds, from any start. */
  now?(): number;
}

const WRONG_PER_MINUTE = 60;
/** Addresses that were wrong too often, until the limiter would allow the next guess. */
const SUSPECTS_MAX = 10_000;
/** Together; one of each address. */
const SUSPECTS_AT_ONCE = 4;
const WAITING_MAX = 200;
/** At most 50 guesses a second of each address. */
const PAUSE_MS = 20;

/**
 * Slows an address down that was wrong too often, so that its guesses leave the processor to others. A right request from such an
 * address, such as a callback of the same carrier for another owner, waits for its turn and is served.
 */
export function createGuesses({ limiter, pauseMs = PAUSE_MS, now = () => performance.now() }: GuessSettings): Guesses {
  /** Until when, by address. */
  const suspects = new LRUCache<string, number>({ max: SUSPECTS_MAX });
  const shares = byteShares({
    what: "requests",
    totalBytes: SUSPECTS_AT_ONCE,
    ownerBytes: 1,
    waitingMax: WAITING_MAX,
  });

  const leftMs = (of: string) => (suspects.get(of) ?? Number.NEGATIVE_INFINITY) - now();

  const wait = async (of: string, gone: AbortSignal): Promise<Turn> => {
    const hold = await shares.hold(of, 1, gone);
    return { end: (wasWrong) => (wasWrong ? void setTimeout(hold.release, pauseMs) : hold.release()) };
  };

  return {
    enter: (of, gone) => (leftMs(of) > 0 ? wait(of, gone()) : null),
    count: async (of, detail) => {
      const left = leftMs(of);
      if (left > 0) throw new ServiceError("rate_limited", detail, { retryAfterMs: left });
      const decision = await limiter.take(of, WRONG_PER_MINUTE);
      if (!decision.allowed) suspects.set(of, now() + decision.retryAfterSeconds * 1000);
      refuseOverRate(decision, detail);
    },
  };
}

/** Looks something up in the address's turn, if it needs one. */
export async function inTurn<R>(
  turn: Promise<Turn> | null,
  find: () => Promise<R>,
  isWrong: (found: R) => boolean,
): Promise<R> {
  const entered = await turn;
  let wasWrong = false;
  try {
    const found = await find();
    wasWrong = isWrong(found);
    return found;
  } finally {
    entered?.end(wasWrong);
  }
}
