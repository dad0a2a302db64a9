import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { read } from "../../api/client.ts";
import { compactOf, dollarsOf, durationOf, latencyOf, numberOf, percentOf } from "../../ui/numbers.ts";
import { type Costs, costOf, unknownNote } from "../statistics/costs.ts";
import type { Statistics } from "../statistics/queries.ts";

/** The period in seven figures. */
export function Figures({ total }: { total: Statistics["total"] }) {
  const ended = total.completed + total.disconnected + total.failed;
  const tokens = total.input_tokens + total.output_tokens;
  const failed = useFailedDeliveries();
  return (
    <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-xl border border-line bg-line md:grid-cols-4 2xl:grid-cols-7">
      <Figure name="Conversations" value={compactOf(total.conversations)} note={`${numberOf(total.replies)} replies`} />
      <Figure
        name="Completed"
        value={ended === 0 ? "–" : percentOf(total.completed / ended)}
        note={ended === 0 ? "None ended yet" : `of ${compactOf(ended)} that ended`}
      />
      <Figure
        name="Call time"
        value={total.call_seconds === 0 ? "–" : durationOf(total.call_seconds)}
        note={latencyNote(total.call_latency)}
      />
      <Figure name="Chat latency" value={latencyText(total.text_latency)} note={p95Note(total.text_latency)} />
      <Figure name="Tokens" value={compactOf(tokens)} note={`${compactOf(total.output_tokens)} output`} />
      <Figure name="Cost of replies" value={costOf(total)} note={costNote(total)} />
      <Figure
        name="Failed deliveries"
        className="col-span-2 2xl:col-span-1"
        value={failed === undefined ? "…" : numberOf(failed)}
        isBad={failed !== undefined && failed > 0}
        note={
          <Link to="/webhooks" search={{}} className="text-accent-ink hover:underline">
            Webhooks
          </Link>
        }
      />
    </dl>
  );
}

function Figure({
  name,
  value,
  note,
  isBad = false,
  className = "",
}: {
  name: string;
  value: string;
  note: ReactNode;
  isBad?: boolean;
  className?: string;
}) {
  return (
    <div className={`flex min-w-0 flex-col gap-1 bg-raised px-4 py-3.5 ${className}`}>
      <dt className="text-[0.8125rem] text-muted">{name}</dt>
      <dd className={`truncate text-xl font-semibold tracking-tight tabular-nums ${isBad ? "text-danger-ink" : ""}`}>
        {value}
      </dd>
      <dd className="text-xs text-muted">{note}</dd>
    </div>
  );
}

function costNote(costs: Costs): string {
  if (costs.replies === 0) return "No replies";
  return unknownNote(costs) ?? `${dollarsOf((costs.cost_usd_micros ?? 0) / costs.replies)} a reply`;
}

type Latency = Statistics["total"]["text_latency"];

function latencyText(latency: Latency): string {
  return latency ? latencyOf(latency.p50_ms) : "–";
}

function p95Note(latency: Latency): string {
  if (!latency) return "No measurements";
  if (latency.p95_ms === null) return `median of ${numberOf(latency.replies)} replies`;
  return `${percentOf(0.95)} within ${latencyOf(latency.p95_ms)}`;
}

function latencyNote(latency: Latency): string {
  return latency ? `${latencyOf(latency.p50_ms)} median reply latency` : "No measurements";
}

/** The deliveries of the last 30 days, for which they are kept. */
function useFailedDeliveries(): number | undefined {
  const failed = useQuery({
    queryKey: ["deliveries", "failed"],
    queryFn: ({ signal }) => read(signal, "/v1/manage/deliveries", { query: { status: "failed", page_size: 1 } }),
    refetchInterval: 30_000,
  });
  return failed.data?.total;
}
