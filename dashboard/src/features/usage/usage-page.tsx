import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChartColumn } from "lucide-react";
import { useMemo } from "react";
import { Card } from "../../ui/card.tsx";
import { Chart } from "../../ui/chart.tsx";
import { compactOf, dollarsOf, durationOf, numberOf } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { EmptyState, ErrorState, LoadingRows } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";
import { agentNamesQuery, nameOfAgent } from "../agents/agents.ts";
import { providerLabel } from "../agents/provider-labels.ts";
import { type Costs, costOf, isUnknown, unknownNote } from "../statistics/costs.ts";
import { PeriodSelect } from "../statistics/period-select.tsx";
import { type Statistics, shortDay, statisticsQuery } from "../statistics/queries.ts";

export function UsagePage() {
  const { days = 30 } = useSearch({ from: "/signed-in/usage" });
  const navigate = useNavigate({ from: "/usage" });
  const statistics = useQuery(statisticsQuery({ days }));
  return (
    <Page
      title="Usage"
      description="Usage by day, agent, and model. Test conversations are not counted. Days are in UTC."
      actions={
        <PeriodSelect
          days={days}
          onChange={(next) => navigate({ search: next === 30 ? {} : { days: next }, replace: true })}
        />
      }
    >
      {statistics.isPending ? (
        <LoadingRows />
      ) : statistics.isLoadingError ? (
        <ErrorState error={statistics.error} onRetry={statistics.refetch} />
      ) : statistics.data.total.conversations === 0 && statistics.data.total.replies === 0 ? (
        <EmptyState icon={ChartColumn} title="No usage yet">
          Conversations, replies, tokens, and cost from the last {days} days appear here.
        </EmptyState>
      ) : (
        <Shown statistics={statistics.data} />
      )}
    </Page>
  );
}

type Agent = Statistics["agents"][number];
type Model = Statistics["models"][number];

function Shown({ statistics }: { statistics: Statistics }) {
  const names = useQuery(agentNamesQuery).data;
  const { days, agents, models, total } = statistics;
  const places = useMemo(() => days.map(({ day }) => shortDay(day)), [days]);
  const tokens = useMemo(() => {
    const sums = (figure: "input_tokens" | "output_tokens") =>
      days.map(({ channels }) => channels.reduce((total, channel) => total + channel[figure], 0));
    return [
      { label: "Input", color: "--chart-1", values: sums("input_tokens") },
      { label: "Output", color: "--chart-2", values: sums("output_tokens") },
    ];
  }, [days]);
  const costs = useMemo(() => {
    const values = days.map(({ channels }) =>
      channels.reduce((sum, { cost_usd_micros = 0 }) => sum + cost_usd_micros, 0),
    );
    return [{ label: "Cost", color: "--chart-5", values }];
  }, [days]);
  return (
    <>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-6 xl:grid-cols-2">
        <Card title="Tokens per day" className="min-w-0">
          <Chart label="Tokens per day" places={places} series={tokens} kind="bars" format={compactOf} />
        </Card>
        <Card
          title="Cost of replies per day"
          className="min-w-0"
          actions={<span className="text-[0.8125rem] text-muted">{isUnknown(total) ? null : unknownNote(total)}</span>}
        >
          {isUnknown(total) ? (
            <p className="flex h-64 items-center justify-center text-center text-muted">
              Unknown: the models of these replies have no price, or did not report their tokens.
            </p>
          ) : (
            <Chart label="Cost of replies per day" places={places} series={costs} kind="bars" format={dollarsOf} />
          )}
        </Card>
      </div>
      <section className="flex flex-col gap-3">
        <h2 className="text-[0.9375rem] font-semibold">By agent</h2>
        <Table
          label="Usage by agent"
          columns={[
            {
              name: "Agent",
              className: "max-w-0 w-full min-w-32 truncate font-medium",
              cell: ({ agent_id }) => (agent_id === "OTHER" ? "Other agents" : nameOfAgent(names, agent_id)),
            },
            ...AGENT_FIGURES,
          ]}
          rows={agents}
          rowKey={({ agent_id }) => agent_id}
        />
      </section>
      <section className="flex flex-col gap-3">
        <h2 className="text-[0.9375rem] font-semibold">By model</h2>
        <Table
          label="Usage by model"
          columns={MODEL_COLUMNS}
          rows={models}
          rowKey={({ provider_name, model_name }) => `${provider_name} ${model_name}`}
        />
      </section>
    </>
  );
}

function Cost({ costs }: { costs: Costs }) {
  const note = isUnknown(costs) ? null : unknownNote(costs);
  return (
    <>
      <span className="block">{costOf(costs)}</span>
      {note && <span className="block text-xs text-muted max-sm:whitespace-normal">{note}</span>}
    </>
  );
}

const NUMERIC = { align: "right", className: "tabular-nums whitespace-nowrap" } as const;

const AGENT_FIGURES: readonly Column<Agent>[] = [
  { name: "Conversations", ...NUMERIC, cell: ({ conversations }) => numberOf(conversations) },
  {
    name: "Call time",
    ...NUMERIC,
    wide: true,
    cell: ({ call_seconds }) => (call_seconds === 0 ? "–" : durationOf(call_seconds)),
  },
  { name: "Replies", ...NUMERIC, wide: true, cell: ({ replies }) => numberOf(replies) },
  { name: "Input tokens", ...NUMERIC, wide: true, cell: ({ input_tokens }) => numberOf(input_tokens) },
  { name: "Output tokens", ...NUMERIC, wide: true, cell: ({ output_tokens }) => numberOf(output_tokens) },
  { name: "Cost", ...NUMERIC, cell: (figures) => <Cost costs={figures} /> },
];

const MODEL_COLUMNS: readonly Column<Model>[] = [
  {
    name: "Model",
    className: "max-w-0 w-full min-w-32",
    cell: ({ provider_name, model_name }) =>
      provider_name === "OTHER" ? (
        <span className="block truncate font-medium">Other models</span>
      ) : (
        <>
          <span className="block truncate font-medium">{model_name}</span>
          <span className="block truncate text-xs text-muted">{providerLabel(provider_name)}</span>
        </>
      ),
  },
  { name: "Replies", ...NUMERIC, cell: ({ replies }) => numberOf(replies) },
  { name: "Input tokens", ...NUMERIC, wide: true, cell: ({ input_tokens }) => numberOf(input_tokens) },
  { name: "Output tokens", ...NUMERIC, wide: true, cell: ({ output_tokens }) => numberOf(output_tokens) },
  { name: "Cost", ...NUMERIC, cell: (figures) => <Cost costs={figures} /> },
];
