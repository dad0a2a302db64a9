import { KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { KeyState } from "../store/api-keys.ts";

/** Later dates have no four-digit year. */
const EXPIRES_BEFORE = new Date("9999-01-01T00:00:00Z");

/** The state of a key at a time. A deactivated key is inactive, expired or not. */
export function keyStatus({ active, expiresAt }: KeyState, now: Date): KeyStatus {
  if (!active) return KeyStatus.KEY_STATUS_INACTIVE;
  return expiresAt && expiresAt <= now ? KeyStatus.KEY_STATUS_EXPIRED : KeyStatus.KEY_STATUS_ACTIVE;
}

/** @throws ServiceError invalid unless the time is in the future */
export function checkExpiry(expiresAt: Date, now: Date): void {
  // Negated because an invalid date compares false with everything.
  if (!(expiresAt > now)) throw invalid("expires_at", "expires_at must be in the future");
  if (!(expiresAt < EXPIRES_BEFORE)) throw invalid("expires_at", "expires_at must be before the year 9999");
}

/** @throws ServiceError condition for an expired key, which would stay unusable */
export function checkActivation({ expiresAt }: KeyState, now: Date): void {
  if (expiresAt && expiresAt <= now) throw new ServiceError("condition", "API key has expired. Create a new one.");
}
