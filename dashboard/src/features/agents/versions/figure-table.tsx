import type { Schema } from "../../../api/client.ts";
import { Badge, type Tone } from "../../../ui/badge.tsx";
import { LOCALE } from "../../../ui/locale.ts";
import { dollarsOf, durationOf, latencyOf, numberOf, onFirstUse } from "../../../ui/numbers.ts";
import { type Column, Table } from "../../../ui/table.tsx";
import { OUTCOMES, STATUSES } from "../../conversations/names.tsx";
import {
  analysisOf,
  type Difference,
  type Figures,
  figureOf,
  summaryOf,
  type Unit,
  unitOf,
  verdictOf,
} from "./figure-words.ts";

type Compared = Schema["AgentVersionComparison"];

/** The figures of two versions side by side, with what their differences mean. */
export function FigureTable({ comparison: { a, b, differences } }: { comparison: Compared }) {
  const rows = [CONVERSATIONS, ...differences].filter(({ figure }) =>
    [a, b].some(({ figures }) => figureOf(figures, figure) !== null),
  );
  const names = { from: `version ${a.agent_version}`, to: `Version ${b.agent_version}` };
  return (
    <>
      <p role="status">{summaryOf(differences, names)}</p>
      <Table label="Figures side by side" columns={columnsOf(a, b)} rows={rows} rowKey={({ figure }) => figure} />
    </>
  );
}

/** How many are compared; the figure itself is not. */
const CONVERSATIONS: Difference = { figure: "conversations", difference: null, low: null, high: null };

const TONES: Partial<Record<NonNullable<Difference["verdict"]>, Tone>> = { better: "success", worse: "danger" };

function columnsOf(a: Compared["a"], b: Compared["b"]): readonly Column<Difference>[] {
  const valueColumn = ({ agent_version, figures }: Compared["a"]): Column<Difference> => ({
    name: String(agent_version),
    label: `Version ${agent_version}`,
    align: "right",
    className: "tabular-nums whitespace-nowrap",
    cell: ({ figure }) => written(figureOf(figures, figure), unitOf(figures, figure)),
  });
  const verdict = (difference: Difference) => (
    <Verdict difference={difference} unit={unitOf(b.figures, difference.figure)} />
  );
  return [
    {
      name: "Figure",
      className: "min-w-24 break-words",
      cell: (difference) => (
        <>
          {labelOf(b.figures, difference.figure)}
          <span className="md:hidden">{verdict(difference)}</span>
        </>
      ),
    },
    valueColumn(a),
    valueColumn(b),
    { name: "Difference", wide: true, className: "min-w-36", cell: verdict },
  ];
}

function Verdict({ difference: of, unit }: { difference: Difference; unit: Unit }) {
  const verdict = verdictOf(of);
  return (
    <span className="flex flex-col items-start gap-0.5">
      {verdict && (
        <Badge tone={of.verdict === undefined ? "accent" : (TONES[of.verdict] ?? "neutral")}>{verdict}</Badge>
      )}
      {of.difference !== null && (
        <span className="text-[0.8125rem] text-muted tabular-nums">
          {signed(of.difference, unit)}
          {of.low !== null && of.high !== null && (
            <span className="whitespace-nowrap">
              {" "}
              ({signed(of.low, unit)} to {signed(of.high, unit)})
            </span>
          )}
        </span>
      )}
    </span>
  );
}

function labelOf(figures: Figures, figure: string): string {
  const [group = "", ...rest] = figure.split(".");
  const word = rest.join(".");
  switch (group) {
    case "conversations":
      return "Conversations";
    case "outcomes":
      return STATUSES[word as keyof typeof STATUSES]?.label ?? word;
    case "call_outcomes":
      return `Calls: ${OUTCOMES[word as keyof typeof OUTCOMES]?.label ?? word}`;
    case "tool_failures":
      return "A tool failed";
    case "call_seconds":
      return "Duration of a call";
    case "text_latency":
    case "call_latency":
      return `${group === "text_latency" ? "First word in text" : "Answer in calls"}, ${word === "p50_ms" ? "median" : "95th percentile"}`;
    case "cost_usd_micros":
      return "Cost of a conversation";
    default: {
      const field = analysisOf(figures, word);
      return field.word === "" ? `Analysis: ${word}` : `Analysis: ${field.name} is ${field.word}`;
    }
  }
}

const percent = onFirstUse(() => new Intl.NumberFormat(LOCALE, { style: "percent", maximumFractionDigits: 1 }));
const short = onFirstUse(() => new Intl.NumberFormat(LOCALE, { maximumSignificantDigits: 3 }));

function written(value: number | null, unit: Unit): string {
  if (value === null) return "–";
  switch (unit) {
    case "count":
      return numberOf(value);
    case "share":
      return percent().format(value);
    case "seconds":
      return value < 60 ? `${short().format(value)} s` : durationOf(value);
    case "ms":
      return latencyOf(Math.round(value));
    case "usd_micros":
      return dollarsOf(value);
    case "number":
      return short().format(value);
  }
}

/** Differences of shares are in percentage points. */
function signed(value: number, unit: Unit): string {
  const size = Math.abs(value);
  const sign = value > 0 ? "+" : value < 0 ? "−" : "";
  return `${sign}${unit === "share" ? `${short().format(size * 100)} points` : written(size, unit)}`;
}
