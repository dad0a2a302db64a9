import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Notice } from "../../ui/states.tsx";
import { alertsQuery, shownFigure } from "./alerts.ts";

/** The alerts that are open now, where the owner looks first. */
export function OpenAlerts() {
  const open = useQuery(alertsQuery).data?.filter(({ is_open }) => is_open) ?? [];
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
