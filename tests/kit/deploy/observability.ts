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

/** Prometheus' own, of every target. */
const OF_PROMETHEUS = "up";

/** The metrics that a query asks for, each alone and once more with each label it is picked or summed up by. @throws where it is no PromQL */
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
