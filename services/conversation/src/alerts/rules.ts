import { invalid } from "@parley/shared/errors";
import { isId, newId } from "@parley/shared/ids";
import { ALERT_METRICS, ALERT_WINDOW_MINUTES_MAX, type AlertMetric, isShare } from "@parley/shared/portable/alerts";
import { checkName } from "@parley/shared/text/name";
import type { AlertRow, AlertRule } from "../store/alerts.ts";

/** Each is checked every minute. */
export const ALERTS_MAX = 50;
const COUNT_MAX = 1_000_000;

/** A rule as it was given, with any metric. */
type GivenRule = Omit<AlertRule, "metric"> & { metric: string };

/** @throws ServiceError invalid */
export function checkRule(given: GivenRule): AlertRule {
  const { name, agentId, windowMinutes, threshold, minimumCount } = given;
  const metric = metricOf(given.metric);
  checkName("name", name);
  if (agentId !== null && !isId("agt", agentId)) throw invalid("agent_id", "agent_id must be the id of an agent");
  if (agentId !== null && metric === "delivery_failed_share")
    throw invalid("agent_id", "agent_id must be left out with delivery_failed_share: deliveries are of all agents");
  if (windowMinutes < 1 || windowMinutes > ALERT_WINDOW_MINUTES_MAX)
    throw invalid("window_minutes", `window_minutes must be from 1 to ${ALERT_WINDOW_MINUTES_MAX}`);
  if (minimumCount < 0 || minimumCount > COUNT_MAX)
    throw invalid("minimum_count", `minimum_count must be from 0 to ${COUNT_MAX}`);
  if (!Number.isFinite(threshold) || threshold <= 0) throw invalid("threshold", "threshold must be more than 0");
  if (isShare(metric) && threshold > 1) throw invalid("threshold", `threshold must be at most 1: ${metric} is a share`);
  return { ...given, metric };
}

function metricOf(given: string): AlertMetric {
  const metric = ALERT_METRICS.find((each) => each === given);
  if (!metric) throw invalid("metric", `metric must be one of ${ALERT_METRICS.join(", ")}`);
  return metric;
}

const FIRST = { enabled: false, agentId: null, windowMinutes: 15 };

/** What a new owner has, switched off. */
export const FIRST_ALERTS: readonly AlertRule[] = [
  { ...FIRST, name: "Conversations fail", metric: "failed_share", threshold: 0.2, minimumCount: 10 },
  {
    ...FIRST,
    name: "Far fewer conversations",
    metric: "volume_drop",
    windowMinutes: 60,
    threshold: 0.5,
    minimumCount: 20,
  },
  { ...FIRST, name: "Slow replies", metric: "p95_latency_ms", threshold: 5_000, minimumCount: 20 },
  { ...FIRST, name: "Tools fail", metric: "tool_failed_share", threshold: 0.2, minimumCount: 10 },
  { ...FIRST, name: "Webhooks fail", metric: "delivery_failed_share", threshold: 0.2, minimumCount: 5 },
];

/** An alert that was never checked. */
export function newAlert(ownerId: string, rule: AlertRule, now: Date): AlertRow {
  const unchecked = { isOpen: false, value: null, count: null, checkedAt: null, openedAt: null, resolvedAt: null };
  return { ownerId, alertId: newId("alr"), ...rule, ...unchecked, createdAt: now, updatedAt: now };
}
