import type { DeliveryState, DeliveryStatusName } from "../store/deliveries.ts";
import type { RetryScheduleName } from "../store/destinations.ts";

/**
 * The waits between attempts, in multiples of `PARLEY_WEBHOOK_RETRY_MS`, which is 10 s: 30 s in all, or 24 hours
 * (docs/webhooks.md#answer-quickly-expect-repeats).
 */
export const RETRY_WAITS: Readonly<Record<RetryScheduleName, readonly number[]>> = {
  standard: [1, 1, 1],
  extended: [1, 30, 150, 540, 1_440, 2_880, 3_600],
};

interface AttemptEnd {
  succeeded: boolean;
  endedAt: Date;
}

export function newDelivery(schedule: RetryScheduleName, now: Date): DeliveryState {
  return { status: "pending", attempts: 0, attemptsLeft: RETRY_WAITS[schedule].length + 1, nextAttemptAt: now };
}

/**
 * The state after one more attempt. The next attempt starts after this one ended: a delivery keeps its number of attempts when its
 * destination gets another schedule, and waits as the new one does before its last attempts. If the delivery was cancelled or ended
 * during the attempt, the attempt still counts; a success makes it delivered in any case.
 * @param retryMs what the schedule's waits are multiples of
 */
export function afterAttempt(
  state: DeliveryState,
  { succeeded, endedAt }: AttemptEnd,
  schedule: RetryScheduleName,
  retryMs: number,
): DeliveryState {
  const attempts = state.attempts + 1;
  if (succeeded) return { ...ended("delivered"), attempts };
  if (state.status !== "pending") return { ...state, attempts };
  const attemptsLeft = state.attemptsLeft - 1;
  if (attemptsLeft === 0) return { ...ended("failed"), attempts };
  const waits = RETRY_WAITS[schedule];
  const waitMs = retryMs * (waits[Math.max(0, waits.length - attemptsLeft)] ?? 1);
  return { status: "pending", attempts, attemptsLeft, nextAttemptAt: new Date(endedAt.getTime() + waitMs) };
}

/** The state of pending deliveries after their destination is disabled or deleted. */
export function cancelled(): Omit<DeliveryState, "attempts"> {
  return ended("cancelled");
}

/** The state of an ended delivery that is resent: as if new, but its attempts stay. */
export function resent(schedule: RetryScheduleName, now: Date): Omit<DeliveryState, "attempts"> {
  const { attempts: _, ...state } = newDelivery(schedule, now);
  return state;
}

function ended(status: DeliveryStatusName): Omit<DeliveryState, "attempts"> {
  return { status, attemptsLeft: 0, nextAttemptAt: null };
}
