import type { DELIVERY_STATUSES } from "@parley/shared/domain/api-names";

/** Attempts before a delivery has failed (docs/api-reference.md#deliveries). */
export const ATTEMPTS_MAX = 4;

export type DeliveryStatusName = keyof typeof DELIVERY_STATUSES;

/** Where a delivery stands. */
export interface DeliveryState {
  status: DeliveryStatusName;
  /** Made so far, those before it was sent again included. */
  attempts: number;
  /** To be made yet before it has failed; none unless it is pending. */
  attemptsLeft: number;
  /** Null unless it is pending. */
  nextAttemptAt: Date | null;
}

export interface AttemptEnd {
  succeeded: boolean;
  endedAt: Date;
}

export function newDelivery(now: Date): DeliveryState {
  return { status: "pending", attempts: 0, attemptsLeft: ATTEMPTS_MAX, nextAttemptAt: now };
}

/**
 * After one more attempt. The next one starts `retryMs` after this one ended. An attempt that was under way when the delivery was
 * cancelled, or ended otherwise, counts as made; had it success, the delivery is delivered whatever came between.
 */
export function afterAttempt(state: DeliveryState, { succeeded, endedAt }: AttemptEnd, retryMs: number): DeliveryState {
  const attempts = state.attempts + 1;
  if (succeeded) return { ...ended("delivered"), attempts };
  if (state.status !== "pending") return { ...state, attempts };
  const attemptsLeft = state.attemptsLeft - 1;
  if (attemptsLeft === 0) return { ...ended("failed"), attempts };
  return { status: "pending", attempts, attemptsLeft, nextAttemptAt: new Date(endedAt.getTime() + retryMs) };
}

/** What becomes of pending deliveries whose destination is disabled or deleted. */
export function cancelled(): Omit<DeliveryState, "attempts"> {
  return ended("cancelled");
}

/** What becomes of a delivery that has ended and is sent again: as if it were new, but its attempts stay. */
export function resent(now: Date): Omit<DeliveryState, "attempts"> {
  const { attempts: _, ...state } = newDelivery(now);
  return state;
}

function ended(status: DeliveryStatusName): Omit<DeliveryState, "attempts"> {
  return { status, attemptsLeft: 0, nextAttemptAt: null };
}
