import type { Alert } from "@parley/proto/parley/conversation/v1/alert.ts";
import type { AlertRow } from "../store/alerts.ts";

export function toAlert(row: AlertRow): Alert {
  const { ownerId: _, agentId, value, count, checkedAt, openedAt, resolvedAt, ...rest } = row;
  return {
    ...rest,
    agentId: agentId ?? "",
    value: value ?? undefined,
    count: count ?? undefined,
    checkedAt: checkedAt ?? undefined,
    openedAt: openedAt ?? undefined,
    resolvedAt: resolvedAt ?? undefined,
  };
}
