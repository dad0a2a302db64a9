/** What an alert can watch (docs/live.md#alerts). */
export const ALERT_METRICS = [
  "failed_share",
  "volume_drop",
  "p95_latency_ms",
  "cost",
  "tool_failed_share",
  "delivery_failed_share",
] as const;

export type AlertMetric = (typeof ALERT_METRICS)[number];

/** A day: the figures by the minute are kept no longer. */
export const ALERT_WINDOW_MINUTES_MAX = 1_440;

/** Whether its values are from 0 to 1. */
export function isShare(metric: AlertMetric): boolean {
  return metric.endsWith("_share") || metric === "volume_drop";
}
