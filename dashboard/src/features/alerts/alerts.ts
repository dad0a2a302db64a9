import { type AlertMetric, isShare } from "@parley/shared/portable/alerts";
import { queryOptions } from "@tanstack/react-query";
import { read, type Schema } from "../../api/client.ts";
import { dollarsOf, latencyOf, numberOf } from "../../ui/numbers.ts";

export type Alert = Schema["Alert"];

export const ALERTS = ["alerts"] as const;
/** They are checked each minute. */
const EVERY_MS = 30_000;

/** All alerts, oldest first. */
export const alertsQuery = queryOptions({
  queryKey: ALERTS,
  queryFn: async ({ signal }) => (await read(signal, "/v1/manage/alerts")).alerts,
  refetchInterval: EVERY_MS,
});

export const METRICS: Readonly<Record<AlertMetric, { label: string; unit: string; hint: string }>> = {
  failed_share: { label: "Conversations that fail", unit: "%", hint: "Of those that ended." },
  volume_drop: { label: "Fewer conversations", unit: "%", hint: "Than in the same window a week earlier." },
  p95_latency_ms: {
    label: "Slow replies",
    unit: "ms",
    hint: "Time to the first word or sound of 95 % of the replies.",
  },
  cost: { label: "Cost", unit: "US$", hint: "Of the replies whose price is known." },
  tool_failed_share: { label: "Tools that fail", unit: "%", hint: "Of the calls of tools that ended." },
  delivery_failed_share: {
    label: "Webhooks that fail",
    unit: "%",
    hint: "Of the deliveries that arrived, failed, or wait to be repeated.",
  },
};

/** A value or threshold in words. */
export function shownFigure(metric: AlertMetric, value: number): string {
  if (isShare(metric)) return `${numberOf(Math.round(value * 10_000) / 100)}%`;
  return metric === "cost" ? dollarsOf(value * 1e6) : latencyOf(Math.round(value));
}
