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
