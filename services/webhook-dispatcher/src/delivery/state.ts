import type { DELIVERY_STATUSES } from "@parley/shared/domain/api-names";

/** Attempts before a delivery has failed (docs/api-reference.md#deliveries). */
export const ATTEMPTS_MAX = 4;

export type DeliveryStatusName = keyof typeof DELIVERY_STATUSES;

/** The state of a delivery. */
export interface DeliveryState {
  status: DeliveryStatusName;
  /** Attempts made so far, including those before a resend. */
  attempts: number;
  /** Attempts left before it fails; 0 unless it is pending. */
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
 * The state after one more attempt. The next attempt starts `retryMs` after this one ended. If the delivery was
 * cancelled or ended during the attempt, the attempt still counts; a success makes it delivered in any case.
 */
export function afterAttempt(state: DeliveryState, { succeeded, endedAt }: AttemptEnd, retryMs: number): DeliveryState {
  const attempts = state.attempts + 1;
  if (succeeded) return { ...ended("delivered"), attempts };
  if (state.status !== "pending") return { ...state, attempts };
  const attemptsLeft = state.attemptsLeft - 1;
  if (attemptsLeft === 0) return { ...ended("failed"), attempts };
  return { status: "pending", attempts, attemptsLeft, nextAttemptAt: new Date(endedAt.getTime() + retryMs) };
}

/** The state of pending deliveries after their destination is disabled or deleted. */
export function cancelled(): Omit<DeliveryState, "attempts"> {
  return ended("cancelled");
}

/** The state of an ended delivery that is resent: as if new, but its attempts stay. */
export function resent(now: Date): Omit<DeliveryState, "attempts"> {
  const { attempts: _, ...state } = newDelivery(now);
  return state;
}

function ended(status: DeliveryStatusName): Omit<DeliveryState, "attempts"> {
  return { status, attemptsLeft: 0, nextAttemptAt: null };
}
