import { ALERT_METRICS, type AlertMetric, isShare } from "@parley/shared/portable/alerts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { SelectField, TextField } from "../../ui/form/fields.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { AgentField } from "../agents/agent-field.tsx";
import { ALERTS, type Alert, METRICS } from "./alerts.ts";

const METRIC_OPTIONS = ALERT_METRICS.map((metric) => ({ value: metric, label: METRICS[metric].label }));

/** The fields of an alert. @param alert the one to change; a new one without it */
export function AlertForm({ alert, onDone }: { alert: Alert | null; onDone: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState(alert?.name ?? "");
  const [metric, setMetric] = useState<AlertMetric>(alert?.metric ?? "failed_share");
  const [agentId, setAgentId] = useState(alert?.agent_id ?? "");
  const [minutes, setMinutes] = useState(String(alert?.window_minutes ?? 15));
  const [threshold, setThreshold] = useState(alert ? entered(alert) : "20");
  const [count, setCount] = useState(String(alert?.minimum_count ?? 10));
  const chooseMetric = (chosen: AlertMetric) => {
    setMetric(chosen);
    // A number of percent says nothing in milliseconds.
    if (METRICS[chosen].unit !== METRICS[metric].unit) setThreshold("");
  };
  const isOfAgents = metric !== "delivery_failed_share";
  const save = useMutation({
    mutationFn: () => {
      const body = {
        name: name.trim(),
        metric,
        agent_id: isOfAgents && agentId !== "" ? agentId : null,
        window_minutes: Number(minutes),
        threshold: Number(threshold) / factorOf(metric),
        minimum_count: Number(count),
      };
      if (!alert) return api.POST("/v1/manage/alerts", { body });
      const params = { path: { alert_id: alert.alert_id } };
      return api.PATCH("/v1/manage/alerts/{alert_id}", { params, body });
    },
    onSuccess: async () => {
      tellDone("Saved");
      onDone();
      await client.invalidateQueries({ queryKey: ALERTS });
    },
  });
  const errors = fieldsOf(save.error);
  const number = (label: string, value: string, onChange: (text: string) => void, field: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      error={errors.get(field)}
      type="number"
      step="any"
      required
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
  return (
    <DialogForm
      onSubmit={() => save.mutate()}
      busy={save.isPending}
      error={save.error}
      action={alert ? "Save" : "Create alert"}
      onCancel={onDone}
    >
      <TextField
        label="Name"
        error={errors.get("name")}
        required
        maxLength={100}
        placeholder="Tools fail"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <SelectField
        label="Metric"
        hint={METRICS[metric].hint}
        error={errors.get("metric")}
        value={metric}
        onChange={(value) => chooseMetric(value as AlertMetric)}
        options={METRIC_OPTIONS}
      />
      {number(`Threshold (${METRICS[metric].unit})`, threshold, setThreshold, "threshold", "Opens from this value on.")}
      {number("Window (minutes)", minutes, setMinutes, "window_minutes", "Up to 1,440, a day.")}
      {number("Minimum count", count, setCount, "minimum_count", "Stays closed with fewer to measure.")}
      {isOfAgents && (
        <AgentField without="All agents" value={agentId} onChange={setAgentId} error={errors.get("agent_id")} />
      )}
    </DialogForm>
  );
}

/** The threshold of an alert as it is entered: 7, where 0.07 times 100 is 7.000000000000001. */
function entered({ metric, threshold }: Alert): string {
  return String(Number((threshold * factorOf(metric)).toPrecision(12)));
}

/** Shares are entered in percent. */
function factorOf(metric: AlertMetric): number {
  return isShare(metric) ? 100 : 1;
}
