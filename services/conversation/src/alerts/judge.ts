import type { AlertRow } from "../store/alerts.ts";
import type { Measured } from "./measure.ts";

/** The alert after a check. Its condition is not met while there is too little to measure. */
export function judged(alert: AlertRow, { value, count }: Measured, now: Date): AlertRow {
  const isMet = value !== null && count >= alert.minimumCount && value >= alert.threshold;
  const checked = { ...alert, value, count, checkedAt: now };
  if (isMet === alert.isOpen) return checked;
  return isMet ? { ...checked, isOpen: true, openedAt: now, resolvedAt: null } : resolved(checked, now);
}

export function resolved(alert: AlertRow, now: Date): AlertRow {
  return { ...alert, isOpen: false, resolvedAt: now };
}
