import type { OperationExamples } from "./example.ts";
import { ALERT_ID, CREATED_AT, UPDATED_AT } from "./values.ts";

const rule = {
  name: "Tools fail",
  enabled: true,
  metric: "tool_failed_share",
  window_minutes: 15,
  threshold: 0.2,
  minimum_count: 10,
};
const alert = {
  alert_id: ALERT_ID,
  ...rule,
  agent_id: null,
  is_open: false,
  value: null,
  count: null,
  opened_at: null,
  resolved_at: null,
  checked_at: null,
  created_at: CREATED_AT,
  updated_at: CREATED_AT,
};

export const ALERT_EXAMPLES: OperationExamples = {
  listAlerts: {
    response: {
      alerts: [{ ...alert, is_open: true, value: 0.35, count: 20, opened_at: UPDATED_AT, checked_at: UPDATED_AT }],
    },
  },
  createAlert: { request: rule, response: alert },
  updateAlert: {
    request: { threshold: 0.5, window_minutes: 60 },
    response: { ...alert, threshold: 0.5, window_minutes: 60, updated_at: UPDATED_AT },
  },
  deleteAlert: { response: { message: "Alert deleted" } },
};
