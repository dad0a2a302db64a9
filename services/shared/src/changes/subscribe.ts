import type { ChangedKey, Changes, WatchState } from "@parley/proto/parley/common/v1/changes.ts";
import type { Logger } from "../log.ts";
import type { CallOptions } from "../rpc/client/sender.ts";

/** A subscription to the changes of another service's rows. */
export interface Subscription {
  /** Whether remembered values may be used now. If not, ask the service. */
  isCurrent(): boolean;
  close(): void;
}

/** A watch RPC, as a client calls it. */
export type Watch = (
  states: AsyncIterable<{ state: WatchState }>,
  options: CallOptions,
) => AsyncIterable<{ changes: Changes | undefined }>;

export interface SubscriptionSettings {
  /** Name of what changes, for logs: `agents`. */
  what: string;
  /** The service's watch RPC. */
  watch: Watch;
  onChange(key: ChangedKey): void;
  /** Forget everything: the stream has just begun, or was lost. */
  onEverything(): void;
  log: Logger;
}

/** Twice within a lease. */
const ASK_MS = 110;
/** Without use for this long, no lease is needed. */
const IDLE_MS = 1_000;
/** After this much silence, the subscriber switches to another replica. */
const SILENCE_MS = 1_000;
const RECONNECT_MS = 250;

/** Subscribes immediately, and again whenever the stream is lost. */
export function subscribe({ what, watch, onChange, onEverything, log }: SubscriptionSettings): Subscription {
  const closed = new AbortController();
  let leaseEndsAt = Number.NEGATIVE_INFINITY;
  let usedAt = performance.now();
  let ask = () => {};

  const follow = async () => {
    const silent = new AbortController();
    const states = createStates({
      isUsed: () => performance.now() - usedAt < IDLE_MS,
      onSilence: () => silent.abort(),
    });
    ask = states.ask;
    try {
      const signal = AbortSignal.any([closed.signal, silent.signal]);
      for await (const { changes } of watch(states.read(), { origin: { requestId: `watch-${what}`, signal } })) {
        if (!changes) continue;
        if (changes.everything) onEverything();
        for (const key of changes.keys) onChange(key);
        leaseEndsAt = Math.max(leaseEndsAt, changes.askedAtMs + changes.leaseMs);
        states.heard(changes);
      }
    } finally {
      leaseEndsAt = Number.NEGATIVE_INFINITY;
      onEverything();
      states.end();
    }
  };

  const run = async () => {
    let lost = false;
    while (!closed.signal.aborted) {
      try {
        await follow();
      } catch (err) {
        if (!lost && !closed.signal.aborted) log.warn({ err, what }, "changes are not reported, asking at each use");
        lost = true;
      }
      await Bun.sleep(RECONNECT_MS);
    }
  };
  void run();

  return {
    isCurrent: () => {
      const now = performance.now();
      if (now - usedAt >= IDLE_MS) ask();
      usedAt = now;
      return now < leaseEndsAt;
    },
    close: () => closed.abort(),
  };
}

/** The states that a subscriber sends on one stream: after applying changes, and regularly while it is used and gets answers. */
function createStates({ isUsed, onSilence }: { isUsed(): boolean; onSilence(): void }) {
  let applied = 0;
  let askedAt: number | null = null;
  let due = true;
  let ended = false;
  let wake = () => {};
  const ask = () => {
    due = true;
    wake();
  };
  const timer = setInterval(() => {
    if (askedAt === null) isUsed() && ask();
    else if (performance.now() - askedAt > SILENCE_MS) onSilence();
  }, ASK_MS);
  return {
    ask,
    async *read(): AsyncGenerator<{ state: WatchState }> {
      while (!ended) {
        if (due) {
          due = false;
          askedAt = performance.now();
          yield { state: { applied, askedAtMs: askedAt } };
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
    heard({ number, askedAtMs }: Changes): void {
      if (askedAtMs === askedAt) askedAt = null;
      if (number === 0) return;
      applied = number;
      ask();
    },
    end(): void {
      ended = true;
      clearInterval(timer);
      wake();
    },
  };
}
