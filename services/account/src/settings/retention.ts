import { invalid } from "@parley/shared/errors";

/** Days that conversations are kept (docs/api-reference.md#retention). */
export const RETENTION_DAYS = { min: 1, max: 3650, default: 90 } as const;

/** @throws ServiceError invalid */
export function checkRetentionDays(days: number): void {
  const { min, max } = RETENTION_DAYS;
  if (days < min || days > max) throw invalid("retention_days", `retention_days must be from ${min} to ${max}`);
}
