import { parser } from "@prometheus-io/lezer-promql";

const FOLDER = new URL("../../../deploy/observability/", import.meta.url);

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

type SyntaxNode = ReturnType<typeof parser.parse>["topNode"];

/** Metrics that Prometheus itself adds for every target. */
const OF_PROMETHEUS = "up";

/** The metrics of a query, each alone and with each label that selects or groups it. @throws if the query is not valid PromQL */
export function askedIn(query: string): string[] {
  const asked: string[] = [];
  parser.parse(query).iterate({
    enter: ({ type, from, node }) => {
      if (type.isError) throw new Error(`no PromQL at ${from}: ${query}`);
      if (type.name !== "VectorSelector") return;
      const text = ({ from, to }: SyntaxNode) => query.slice(from, to);
      const name = text(node.getChild("Identifier") as SyntaxNode);
      if (name !== OF_PROMETHEUS) asked.push(name, ...labelsOf(node).map((label) => `${name} ${text(label)}`));
    },
  });
  return asked;
}

function labelsOf(selector: SyntaxNode): SyntaxNode[] {
  const matchers = selector.getChild("LabelMatchers")?.getChildren("UnquotedLabelMatcher") ?? [];
  const labels = matchers.flatMap((matcher) => matcher.getChildren("LabelName"));
  for (let outer = selector.parent; outer; outer = outer.parent)
    labels.push(...(outer.getChild("AggregateModifier")?.getChild("GroupingLabels")?.getChildren("LabelName") ?? []));
  return labels;
}
