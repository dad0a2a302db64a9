import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Notice } from "../../ui/states.tsx";
import { type Alert, alertsQuery, shownFigure } from "./alerts.ts";

/** How many alerts are open now, beside the navigation's link to them; nothing if none is. */
export function OpenCount() {
  const { length: count } = useOpen();
  if (count === 0) return null;
  return (
    <span className="ml-auto min-w-5 rounded-full bg-danger-soft px-1.5 text-center text-xs font-medium text-danger-ink tabular-nums">
      {count}
      <span className="sr-only"> open</span>
    </span>
  );
}

/** A sign that alerts are open, where the navigation is closed. */
export function OpenDot() {
  if (useOpen().length === 0) return null;
  return (
    <span className="absolute top-1 right-1 size-2 rounded-full bg-danger">
      <span className="sr-only">Alerts are open</span>
    </span>
  );
}

/** The alerts that are open now, where the owner looks first. */
export function OpenAlerts() {
  const open = useOpen();
  if (open.length === 0) return null;
  return (
    <Notice tone="danger">
      {open.length === 1 ? "An alert is open: " : `${open.length} alerts are open: `}
      {open
        .map(({ name, metric, value }) => `${name} (${value === null ? "–" : shownFigure(metric, value)})`)
        .join(", ")}
      .{" "}
      <Link to="/alerts" search={{}} className="underline">
        Alerts
      </Link>
    </Notice>
  );
}

function useOpen(): Alert[] {
  return useQuery(alertsQuery).data?.filter(({ is_open }) => is_open) ?? [];
}
