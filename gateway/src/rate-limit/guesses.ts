import { ServiceError } from "@parley/shared/errors";
import { type ByteShares, byteShares, type Hold } from "@parley/shared/shares/byte-shares";
import { LRUCache } from "lru-cache";
import type { RateLimiter } from "./limiter.ts";
import { refuseOverRate } from "./refuse.ts";

/** Limits guesses of keys, sessions, ids and signatures, because each costs other processes and the database work. */
export interface Guesses {
  /**
   * Looks up what a client sent. If its address was wrong too often, the look-up waits for the address's turn, unless the value
   * was right before.
   * @param isWrong whether what was found shows that the client only guessed
   * @throws ServiceError rate_limited when too many requests of the address wait for their turn, cancelled when `gone` fires;
   * whatever `find` throws, which counts neither as right nor as wrong
   */
  look<R>(guess: Guess, find: () => Promise<R>, isWrong: (found: R) => boolean): Promise<R>;
  /**
   * Looks up whether there is what a client named, before anything costly is done for it. A few values of an address are looked up at a
   * time, from its first guess on.
   * @param few from `fewFirst`
   * @throws ServiceError as `look` does
   */
  lookFirst<R>(
    guess: Omit<Guess, "sent">,
    few: ByteShares,
    find: () => Promise<R>,
    isWrong: (found: R) => boolean,
  ): Promise<R>;
  /** Whether the value was right when it was last looked up. */
  wasRight(sent: string): boolean;
  /** Counts a wrong guess. @throws ServiceError rate_limited with `detail` if there were too many in a minute */
  count(of: string, detail: string): Promise<void>;
}

interface Guess {
  /** The key of the count: what is guessed, and the client's address. */
  of: string;
  /** The value that the client sent, such as a key's digest or a callback's id. */
  sent: string;
  /** Fires when the client no longer waits. */
  gone(): AbortSignal;
}

interface GuessSettings {
  limiter: RateLimiter;
  /** How long an address waits after each wrong guess of its own, in milliseconds. */
  pauseMs?: number;
  /** Milliseconds, from any start. */
  now?(): number;
}

/** Whose the shares of callbacks are, for their errors: a carrier's address sends those of many accounts. */
export const ADDRESS = "This address";
const WRONG_PER_MINUTE = 60;
/** Addresses that were wrong too often, until the limiter would allow the next guess. */
const SUSPECTS_MAX = 10_000;
/** The most right values of all addresses that are remembered. */
const RIGHT_MAX = 20_000;
/** The most look-ups of slowed addresses at a time, one of each address. */
const SUSPECTS_AT_ONCE = 4;
const WAITING_MAX = 200;
/** At most 50 guesses a second of each address. */
const PAUSE_MS = 20;

/**
 * Slows an address down that was wrong too often, so that its guesses leave the processor to others. A right value from there,
 * such as another owner's callback from the same carrier, waits for its turn the first time and is served.
 */
export function createGuesses({ limiter, pauseMs = PAUSE_MS, now = () => performance.now() }: GuessSettings): Guesses {
  /** The end of each address's wait. */
  const suspects = new LRUCache<string, number>({ max: SUSPECTS_MAX });
  const right = new LRUCache<string, true>({ max: RIGHT_MAX });
  const shares = byteShares({
    what: "requests",
    whose: ADDRESS,
    totalBytes: SUSPECTS_AT_ONCE,
    ownerBytes: 1,
    waitingMax: WAITING_MAX,
  });

  const leftMs = (of: string) => (suspects.get(of) ?? Number.NEGATIVE_INFINITY) - now();

  const waitFor = ({ of, gone }: Omit<Guess, "sent">): Promise<Hold> | null =>
    leftMs(of) <= 0 ? null : shares.hold(of, 1, gone());

  async function lookWith<R>(hold: Hold | null, find: () => Promise<R>, isWrong: (found: R) => boolean): Promise<R> {
    let pause = 0;
    try {
      const found = await find();
      if (isWrong(found)) pause = pauseMs;
      return found;
    } finally {
      if (hold) setTimeout(hold.release, pause);
    }
  }

  return {
    look: async (guess, find, isWrong) => {
      const hold = right.has(guess.sent) ? null : await waitFor(guess);
      const found = await lookWith(hold, find, isWrong);
      if (isWrong(found)) right.delete(guess.sent);
      else right.set(guess.sent, true);
      return found;
    },
    lookFirst: async (guess, few, find, isWrong) => {
      const first = await few.hold(guess.of, 1, guess.gone());
      return lookWith(first, async () => lookWith(await waitFor(guess), find, isWrong), isWrong);
    },
    wasRight: (sent) => right.has(sent),
    count: async (of, detail) => {
      const left = leftMs(of);
      if (left > 0) throw new ServiceError("rate_limited", detail, { retryAfterMs: left });
      const decision = await limiter.take(of, WRONG_PER_MINUTE);
      if (!decision.allowed) suspects.set(of, now() + decision.retryAfterSeconds * 1000);
      refuseOverRate(decision, detail);
    },
  };
}

/** The most first look-ups of an address at a time. */
const FIRST_AT_ONCE = 2;

/** Shares for first look-ups. @param waitingMax how many of an address may wait: their bodies may have begun to arrive */
export function fewFirst(waitingMax: number): ByteShares {
  const totalBytes = Number.POSITIVE_INFINITY;
  return byteShares({ what: "requests", whose: ADDRESS, totalBytes, ownerBytes: FIRST_AT_ONCE, waitingMax });
}
