import { useMemo, useState } from "react";
import { Card } from "../../ui/card.tsx";
import { Chart, type Series } from "../../ui/chart.tsx";
import { compactOf, latencyOf } from "../../ui/numbers.ts";
import { Segments } from "../../ui/segments.tsx";
import { CHANNELS, type Channel } from "../conversations/names.tsx";
import { type Statistics, shortDay } from "../statistics/queries.ts";

type Day = Statistics["days"][number];
type Figure = Exclude<keyof Day["channels"][number], "conversation_type" | "cost_usd_micros" | "unpriced_replies">;

const SPLITS = [
  { value: "outcome", label: "Outcome" },
  { value: "channel", label: "Channel" },
] as const;
const OUTCOMES = [
  { figure: "completed", label: "Completed", color: "--chart-1" },
  { figure: "disconnected", label: "Disconnected", color: "--chart-3" },
  { figure: "failed", label: "Failed", color: "--chart-4" },
] as const;
const CHANNEL_COLORS: Record<Channel, string> = {
  CHAT: "--chart-1",
  WEB: "--chart-2",
  TELEPHONY: "--chart-5",
  WHATSAPP: "--chart-6",
  DAILY: "--chart-3",
};

/** Charts of the days of a period. */
export function Charts({ days }: { days: readonly Day[] }) {
  const [split, setSplit] = useState<(typeof SPLITS)[number]["value"]>("outcome");
  const places = useMemo(() => days.map(({ day }) => shortDay(day)), [days]);
  const conversations = useMemo(() => (split === "outcome" ? byOutcome(days) : byChannel(days)), [days, split]);
  const latencies = useMemo(() => latenciesOf(days), [days]);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-6 xl:grid-cols-2">
      <Card
        title="Conversations per day"
        className="min-w-0"
        actions={<Segments label="Split by" options={SPLITS} value={split} onChange={setSplit} />}
      >
        <Chart label="Conversations per day" places={places} series={conversations} kind="bars" format={compactOf} />
      </Card>
      <Card
        title="Reply latency"
        className="min-w-0"
        actions={<span className="flex h-8 items-center text-[0.8125rem] text-muted">To the first word or audio</span>}
      >
        {latencies.length > 0 ? (
          <Chart label="Reply latency per day" places={places} series={latencies} kind="lines" format={latencyOf} />
        ) : (
          <p className="flex h-64 items-center justify-center text-muted">No measurements in this period.</p>
        )}
      </Card>
    </div>
  );
}

function sum(day: Day, figure: Figure): number {
  return day.channels.reduce((total, channel) => total + channel[figure], 0);
}

function byOutcome(days: readonly Day[]): Series[] {
  const ended = OUTCOMES.map(({ figure, label, color }) => ({
    label,
    color,
    values: days.map((day) => sum(day, figure)),
  }));
  const live = days.map(
    (day) => sum(day, "conversations") - OUTCOMES.reduce((total, { figure }) => total + sum(day, figure), 0),
  );
  return withValues([...ended, { label: "In progress", color: "--chart-2", values: live }]);
}

function byChannel(days: readonly Day[]): Series[] {
  const channels = Object.entries(CHANNELS).map(([channel, { label }]) => ({
    label,
    color: CHANNEL_COLORS[channel as Channel],
    values: days.map(({ channels: all }) =>
      all.reduce((total, each) => total + (each.conversation_type === channel ? each.conversations : 0), 0),
    ),
  }));
  return withValues(channels);
}

/** Leaves out those that have nothing to show, except the first. */
function withValues(series: Series[]): Series[] {
  return series.filter(({ values }, at) => at === 0 || values.some((value) => (value ?? 0) > 0));
}

function latenciesOf(days: readonly Day[]): Series[] {
  const all: Series[] = [
    { label: "Chat p50", color: "--chart-1", values: days.map(({ text_latency }) => text_latency?.p50_ms ?? null) },
    {
      label: "Chat p95",
      color: "--chart-1",
      isDashed: true,
      values: days.map(({ text_latency }) => text_latency?.p95_ms ?? null),
    },
    { label: "Call p50", color: "--chart-5", values: days.map(({ call_latency }) => call_latency?.p50_ms ?? null) },
    {
      label: "Call p95",
      color: "--chart-5",
      isDashed: true,
      values: days.map(({ call_latency }) => call_latency?.p95_ms ?? null),
    },
  ];
  return all.filter(({ values }) => values.some((value) => value !== null));
}
