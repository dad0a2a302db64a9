import type { Clock } from "@parley/shared/clock";
import type { OpenTurn } from "../store/turns/take-turns.ts";
import type { TurnStore } from "../store/turns/turns-together.ts";

/** The turns in progress in this process, which waits for them before it stops. */
export interface RunningTurns {
  /** Fires when the process stops waiting. Turns then store what they have. */
  cutOff: AbortSignal;
  /** Registers a turn. @returns a function that ends it */
  begin(): () => void;
  /** How many are in progress. */
  count(): number;
  /** Cuts the turns off and waits until they are stored. */
  stop(): Promise<void>;
}

export function runningTurns(): RunningTurns {
  const cutter = new AbortController();
  const running = new Set<Promise<void>>();
  return {
    cutOff: cutter.signal,
    begin() {
      const { promise, resolve } = Promise.withResolvers<void>();
      running.add(promise);
      return () => {
        running.delete(promise);
        resolve();
      };
    },
    count: () => running.size,
    async stop() {
      cutter.abort();
      while (running.size > 0) await Promise.all(running);
    },
  };
}

interface Keeping {
  turns: RunningTurns;
  turnStore: Pick<TurnStore, "extendTurn">;
  limits: { turnLeaseMs: number };
  clock: Clock;
}

/**
 * Renews the turn's lease while the turn runs. If this process dies, the session is free again when the lease ends.
 * The process does not end before it is stopped.
 */
export function keepTurn(ctx: Keeping, turn: OpenTurn): { stop(): void } {
  const { turnLeaseMs } = ctx.limits;
  const end = ctx.turns.begin();
  const beat = setInterval(() => {
    const until = new Date(ctx.clock.now().getTime() + turnLeaseMs);
    // The lease lasts three beats, so the next one makes up for a lost one.
    ctx.turnStore.extendTurn({ ...turn, until }).catch(() => {});
  }, turnLeaseMs / 3);
  return {
    stop: () => {
      clearInterval(beat);
      end();
    },
  };
}
