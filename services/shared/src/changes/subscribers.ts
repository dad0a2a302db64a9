import type { ChangedKey, Changes, WatchState } from "@parley/proto/parley/common/v1/changes.ts";

/** The subscribers of one process, and how long each may use what it remembers. */
export interface Subscribers {
  /** Yields the messages for one subscriber while it listens, beginning with one that everything may have changed. */
  serve(states: AsyncIterable<WatchState>): AsyncGenerator<Changes>;
  tell(key: ChangedKey): void;
  tellEverything(): void;
  /** Whether a subscriber asked for a lease recently. */
  areAsking(): boolean;
  /** Lets leases last until this time, on the clock of `performance.now()`, and grants those that were asked for too early. */
  extend(untilMs: number): void;
  /**
   * Resolves once no subscriber uses values from before the changes reported so far: each has applied them, or its lease has
   * ended, even if its stream has. Takes at most as long as a lease, because none is renewed in the meantime.
   */
  settled(): Promise<void>;
  /** Ends every stream. @param error thrown to its reader */
  end(error: Error): void;
}

/** Limit for changes waiting for one subscriber; beyond it, they are reported as "everything". */
const WAITING_MAX = 10_000;
/** Timers may fire a little early. */
const EARLY_MS = 2;

interface Subscriber {
  waiting: { everything: boolean; keys: Map<string, ChangedKey> };
  /** Number of the newest message with changes that was sent. */
  sent: number;
  applied: number;
  /** No lease is given before this message is applied. */
  due: number;
  leaseEndsAt: number;
  /** The time to return with the next lease; null when none was requested. */
  askedAtMs: number | null;
  /** The same for a request that got no lease, because the process had none to grant. */
  refusedAtMs: number | null;
  end: { error?: Error } | null;
  /** Wakes the stream that sends the messages. */
  wake(): void;
  /** Called when a message is applied. */
  onApplied: Set<() => void>;
}

/**
 * @param leaseMs how long a subscriber may use what it remembers without a message, in milliseconds
 * @param onRefused is called when a lease is asked for once the time given to the last `extend` has passed
 */
export function createSubscribers(leaseMs: number, onRefused: () => void): Subscribers {
  const subscribers = new Set<Subscriber>();
  let heldUntil = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;

  async function* serve(states: AsyncIterable<WatchState>): AsyncGenerator<Changes> {
    const subscriber = newSubscriber();
    subscribers.add(subscriber);
    listen(subscriber, states);
    try {
      while (subscriber.end === null) {
        const message = nextMessage(subscriber);
        if (message) yield message;
        else
          await new Promise<void>((resolve) => {
            subscriber.wake = resolve;
          });
      }
      if (subscriber.end.error) throw subscriber.end.error;
    } finally {
      // It may not have noticed the end of its stream and still use its lease.
      const leftMs = Math.max(0, subscriber.leaseEndsAt - performance.now());
      setTimeout(() => subscribers.delete(subscriber), leftMs + EARLY_MS);
    }
  }

  function nextMessage(subscriber: Subscriber): Changes | null {
    const { waiting, askedAtMs } = subscriber;
    const hasChanges = waiting.everything || waiting.keys.size > 0;
    if (!hasChanges && askedAtMs === null) return null;
    subscriber.askedAtMs = null;
    const now = performance.now();
    if (askedAtMs !== null) askedAt = now;
    const mayHave = askedAtMs !== null && subscriber.applied >= subscriber.due;
    const lease = mayHave ? Math.max(0, Math.min(leaseMs, heldUntil - now)) : 0;
    subscriber.leaseEndsAt = Math.max(subscriber.leaseEndsAt, now + lease);
    if (mayHave) subscriber.refusedAtMs = lease > 0 ? null : askedAtMs;
    if (mayHave && lease === 0) onRefused();
    const lately = { askedAtMs: askedAtMs ?? 0, leaseMs: lease };
    if (!hasChanges) return { number: 0, everything: false, keys: [], ...lately };
    subscriber.waiting = { everything: false, keys: new Map() };
    return { number: ++subscriber.sent, everything: waiting.everything, keys: [...waiting.keys.values()], ...lately };
  }

  async function settled(): Promise<void> {
    await Promise.all([...subscribers].map(settledOne));
  }

  function settledOne(subscriber: Subscriber): Promise<void> {
    const { waiting, sent, applied } = subscriber;
    const wanted = waiting.everything || waiting.keys.size > 0 ? sent + 1 : sent;
    const leftMs = subscriber.leaseEndsAt - performance.now();
    subscriber.due = Math.max(subscriber.due, wanted);
    if (applied >= wanted || leftMs <= 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        subscriber.onApplied.delete(look);
        resolve();
      };
      const look = () => subscriber.applied >= wanted && done();
      const timer = setTimeout(done, leftMs + EARLY_MS);
      subscriber.onApplied.add(look);
    });
  }

  return {
    serve,
    settled,
    tell: (key) => {
      for (const subscriber of subscribers) put(subscriber, key);
    },
    tellEverything: () => {
      for (const subscriber of subscribers) putEverything(subscriber);
    },
    areAsking: () => performance.now() - askedAt < 2 * leaseMs,
    extend: (untilMs) => {
      heldUntil = untilMs;
      for (const subscriber of subscribers) grantLate(subscriber);
    },
    end: (error) => {
      for (const subscriber of subscribers) {
        subscriber.end ??= { error };
        subscriber.wake();
      }
    },
  };
}

function newSubscriber(): Subscriber {
  return {
    waiting: { everything: true, keys: new Map() },
    sent: 0,
    applied: 0,
    due: 0,
    leaseEndsAt: Number.NEGATIVE_INFINITY,
    askedAtMs: null,
    refusedAtMs: null,
    end: null,
    wake: () => {},
    onApplied: new Set(),
  };
}

/** Reads a subscriber's states until its stream ends or breaks off. */
async function listen(subscriber: Subscriber, states: AsyncIterable<WatchState>): Promise<void> {
  try {
    for await (const state of states) {
      subscriber.applied = Math.max(subscriber.applied, state.applied);
      subscriber.askedAtMs = state.askedAtMs;
      for (const look of subscriber.onApplied) look();
      subscriber.wake();
    }
  } catch {
    // Nobody is left to report the error to.
  }
  subscriber.end ??= {};
  subscriber.wake();
}

function grantLate(subscriber: Subscriber): void {
  if (subscriber.refusedAtMs === null) return;
  subscriber.askedAtMs ??= subscriber.refusedAtMs;
  subscriber.refusedAtMs = null;
  subscriber.wake();
}

function put(subscriber: Subscriber, key: ChangedKey): void {
  const { waiting } = subscriber;
  if (waiting.everything) return;
  waiting.keys.set(`${key.ownerId} ${key.name}`, key);
  if (waiting.keys.size > WAITING_MAX) putEverything(subscriber);
  else subscriber.wake();
}

function putEverything(subscriber: Subscriber): void {
  subscriber.waiting = { everything: true, keys: new Map() };
  subscriber.wake();
}
