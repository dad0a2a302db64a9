import { parser } from "@prometheus-io/lezer-promql";

const FOLDER = new URL("../../observability/", import.meta.url);

interface Alerts {
  groups: { rules: { alert: string; expr: string }[] }[];
}
interface Dashboard {
  panels: { targets: { expr: string }[] }[];
}

/** Every query of the alert rules and of the dashboard, as Prometheus would get it. */
export async function observabilityQueries(): Promise<string[]> {
  const alerts = Bun.YAML.parse(await Bun.file(new URL("alerts.yaml", FOLDER)).text()) as Alerts;
  const dashboard = (await Bun.file(new URL("dashboard.json", FOLDER)).json()) as Dashboard;
  return [
    ...alerts.groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr.replaceAll("$__rate_interval", "5m"))),
  ];
}

/** The metrics that a query asks for. @throws where it is no PromQL */
export function metricsIn(query: string): string[] {
  const names: string[] = [];
  parser.parse(query).iterate({
    enter: ({ type, from, to, node }) => {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${query}`);
      if (type.name === "Identifier" && node.parent?.type.name === "VectorSelector") names.push(query.slice(from, to));
    },
  });
  return names;
}
