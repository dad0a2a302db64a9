import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { BellRing } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { ListPage } from "../../app/list-page.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Switch } from "../../ui/form/switch.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { ActionsMenu } from "../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { MenuItem } from "../../ui/overlay/menu.tsx";
import { tellFailure } from "../../ui/overlay/toasts.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, MOMENT } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { AlertForm } from "./alert-form.tsx";
import { ALERTS, type Alert, alertsQuery, METRICS, shownFigure } from "./alerts.ts";

/** The conditions of which the owner is told. */
export function AlertsPage() {
  const alerts = useQuery(alertsQuery);
  return (
    <ListPage
      title="Alerts"
      description="Conditions that are checked each minute. You are told here, by the webhook events alert.opened and alert.resolved, and by email if the server sends any."
      query={alerts}
      rows={alerts.data}
      columns={COLUMNS}
      rowKey={({ alert_id }) => alert_id}
      making="New alert"
      dialog={({ open, onClose }) => (
        <Dialog open={open} onClose={onClose} title="New alert">
          <AlertForm alert={null} onDone={onClose} />
        </Dialog>
      )}
      first={(make) => (
        <EmptyState icon={BellRing} title="No alerts" action={make}>
          Be told when conversations, tools or webhooks fail, when replies are slow, or when they cost too much.
        </EmptyState>
      )}
    />
  );
}

function Enabled({ alert }: { alert: Alert }) {
  const client = useQueryClient();
  const turn = useMutation({
    mutationFn: (enabled: boolean) =>
      api.PATCH("/v1/manage/alerts/{alert_id}", {
        params: { path: { alert_id: alert.alert_id } },
        body: { enabled },
      }),
    onSettled: () => client.invalidateQueries({ queryKey: ALERTS }),
    onError: tellFailure,
  });
  return (
    <Switch
      aria-label={`Check “${alert.name}”`}
      checked={turn.isPending ? turn.variables : alert.enabled}
      onChange={(enabled) => turn.mutate(enabled)}
    />
  );
}

function State({ enabled, is_open, checked_at }: Alert) {
  if (!enabled) return <Badge>Off</Badge>;
  if (is_open) return <Badge tone="danger">Open</Badge>;
  return checked_at ? <Badge tone="success">OK</Badge> : <Badge>Not checked yet</Badge>;
}

function AlertMenu({ alert }: { alert: Alert }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<"edit" | "delete" | null>(null);
  const close = () => setAsked(null);
  return (
    <>
      <ActionsMenu label={`Actions for ${alert.name}`}>
        <MenuItem onSelect={() => setAsked("edit")}>Edit…</MenuItem>
        <MenuItem danger onSelect={() => setAsked("delete")}>
          Delete…
        </MenuItem>
      </ActionsMenu>
      <Dialog open={asked === "edit"} onClose={close} title={`Edit “${alert.name}”`}>
        <AlertForm alert={alert} onDone={close} />
      </Dialog>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete “${alert.name}”?`}
        action="Delete alert"
        write={() => api.DELETE("/v1/manage/alerts/{alert_id}", { params: { path: { alert_id: alert.alert_id } } })}
        done={`Deleted “${alert.name}”`}
        then={() => client.invalidateQueries({ queryKey: ALERTS })}
      >
        {alert.is_open ? "It is open, and becomes resolved. " : ""}This cannot be undone.
      </Confirm>
    </>
  );
}

const COLUMNS: readonly Column<Alert>[] = [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-40",
    cell: ({ name, metric, threshold, window_minutes }) => (
      <>
        <span className="block font-medium wrap-anywhere" dir="auto">
          {name}
        </span>
        <span className="block text-xs text-muted max-sm:whitespace-normal sm:truncate">
          {METRICS[metric].label}: {shownFigure(metric, threshold)} or more in {numberOf(window_minutes)}{" "}
          {window_minutes === 1 ? "minute" : "minutes"}
        </span>
      </>
    ),
  },
  { name: "State", cell: (alert) => <State {...alert} /> },
  {
    name: "Value",
    wide: true,
    className: "whitespace-nowrap",
    cell: ({ metric, value, enabled }) => (value === null || !enabled ? "–" : shownFigure(metric, value)),
  },
  { name: "Opened", ...MOMENT, cell: ({ opened_at }) => (opened_at ? <Time at={opened_at} relative /> : "Never") },
  { name: "On", cell: (alert) => <Enabled alert={alert} /> },
  {
    name: "Actions",
    label: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (alert) => <AlertMenu alert={alert} />,
  },
];
