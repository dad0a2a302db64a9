import type { Database } from "@parley/shared/db/database";
import { batched } from "@parley/shared/rpc/batched";
import { type DeliveryState, type Ended, keyOf, readStates, storeEnded } from "../store/deliveries.ts";
import type { RetryScheduleName } from "../store/destinations.ts";
import type { Attempt } from "./attempt.ts";
import { afterAttempt } from "./state.ts";

export interface MadeAttempt {
  delivery: Ended["delivery"];
  attempt: Attempt;
  /** The destination's when the attempt was made. */
  schedule: RetryScheduleName;
}

const ATTEMPTS_AT_ONCE = 500;

/**
 * Stores an attempt and its delivery's new state, batched with other attempts that end at the time.
 * @returns the delivery's state; null when another process already made this attempt or the delivery no longer exists
 */
export type Settle = (made: MadeAttempt) => Promise<DeliveryState | null>;

export function settler(db: Database, retryMs: number): Settle {
  return batched((made: readonly MadeAttempt[]) => settleAll(db, retryMs, made), ATTEMPTS_AT_ONCE);
}

async function settleAll(
  db: Database,
  retryMs: number,
  made: readonly MadeAttempt[],
): Promise<(DeliveryState | null)[]> {
  const settled = new Map<string, DeliveryState>();
  let waiting = made;
  while (waiting.length > 0) {
    const ended = waiting
      .map(
        ({ delivery, attempt, schedule }): Ended => ({
          delivery,
          attempt,
          next: afterAttempt(delivery, attempt, schedule, retryMs),
        }),
      )
      .sort((a, b) => (a.delivery.deliveryId < b.delivery.deliveryId ? -1 : 1));
    const stored = await storeEnded(db, ended);
    for (const { delivery, next } of ended) if (stored.has(keyOf(delivery))) settled.set(keyOf(delivery), next);
    if (stored.size === waiting.length) break;
    // A delivery that was cancelled or resent during its attempt keeps that state.
    const states = await readStates(
      db,
      waiting.map(({ delivery }) => delivery),
    );
    waiting = waiting.flatMap(({ delivery, attempt, schedule }) => {
      const now = states.get(keyOf(delivery));
      return now?.attempts === delivery.attempts ? [{ delivery: now, attempt, schedule }] : [];
    });
  }
  return made.map(({ delivery }) => settled.get(keyOf(delivery)) ?? null);
}
