import type { Alert } from "@parley/proto/parley/conversation/v1/alert.ts";
import { isoTime } from "./time.ts";

/** An alert as the API shows it (docs/live.md#alerts). */
export function presentAlert(alert: Alert) {
  return {
    alert_id: alert.alertId,
    name: alert.name,
    enabled: alert.enabled,
    metric: alert.metric,
    agent_id: alert.agentId || null,
    window_minutes: alert.windowMinutes,
    threshold: alert.threshold,
    minimum_count: alert.minimumCount,
    is_open: alert.isOpen,
    value: alert.value ?? null,
    count: alert.count ?? null,
    opened_at: isoTime(alert.openedAt) ?? null,
    resolved_at: isoTime(alert.resolvedAt) ?? null,
    checked_at: isoTime(alert.checkedAt) ?? null,
    created_at: isoTime(alert.createdAt) ?? null,
    updated_at: isoTime(alert.updatedAt) ?? null,
  };
}
