import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListChecks, Plus } from "lucide-react";
import { useState } from "react";
import { api, read, type Schema } from "../../api/client.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { numberOf, percentOf } from "../../ui/numbers.ts";
import { ConfirmButton } from "../../ui/overlay/confirm-button.tsx";
import { tellFailure } from "../../ui/overlay/toasts.tsx";
import { Pagination } from "../../ui/pagination.tsx";
import { EmptyState, ErrorState, LoadingRows, Skeleton } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { agentNamesQuery, nameOfAgent } from "../agents/agents.ts";
import { NewBatchDialog } from "./new-batch-dialog.tsx";
import { CALLS } from "./queries.ts";

type Summary = Schema["CallBatchSummary"];
type Batch = Schema["CallBatch"];

export const BATCHES = [...CALLS, "batches"] as const;
const SHOWN = 10;
const EVERY_MS = 3_000;

const STATUSES: Record<Summary["status"], { label: string; tone: Tone }> = {
  RUNNING: { label: "Running", tone: "accent" },
  PAUSED: { label: "Paused", tone: "warning" },
  CANCELLED: { label: "Cancelled", tone: "neutral" },
  ENDED: { label: "Ended", tone: "success" },
};

/** Lists of numbers that agents call, with their progress. */
export function Batches() {
  const [page, setPage] = useState(1);
  const [isMaking, setMaking] = useState(false);
  const batches = useQuery({
    queryKey: [...BATCHES, page],
    queryFn: ({ signal }) => read(signal, "/v1/public/call-batches", { query: { page, page_size: SHOWN } }),
    placeholderData: (before) => before,
    refetchInterval: EVERY_MS,
  });
  const make = (variant?: "primary") => (
    <Button size="small" variant={variant ?? "secondary"} onClick={() => setMaking(true)}>
      <Plus aria-hidden /> New batch
    </Button>
  );
  return (
    <div className="flex flex-col gap-4">
      {batches.isPending ? (
        <LoadingRows rows={3} />
      ) : batches.isLoadingError ? (
        <ErrorState error={batches.error} onRetry={batches.refetch} />
      ) : batches.data.batches.length === 0 ? (
        <EmptyState icon={ListChecks} title="No batches yet" action={make("primary")}>
          Upload a CSV file with up to 10,000 phone numbers for an agent to call.
        </EmptyState>
      ) : (
        <>
          <div className="flex justify-end">{make()}</div>
          <ul aria-label="Batches" className="flex flex-col gap-4">
            {batches.data.batches.map((batch) => (
              <BatchCard key={batch.batch_id} summary={batch} />
            ))}
          </ul>
          <Pagination page={page} pageSize={SHOWN} total={batches.data.total} onPage={setPage} />
        </>
      )}
      <NewBatchDialog open={isMaking} onClose={() => setMaking(false)} />
    </div>
  );
}

function BatchCard({ summary }: { summary: Summary }) {
  const names = useQuery(agentNamesQuery).data;
  const params = { path: { batch_id: summary.batch_id } };
  const hasEnded = summary.ended_at !== null;
  const batch = useQuery({
    queryKey: [...BATCHES, summary.batch_id],
    queryFn: ({ signal }) => read(signal, "/v1/public/call-batches/{batch_id}", params),
    refetchInterval: hasEnded ? false : EVERY_MS,
  });
  const { label, tone } = STATUSES[summary.status];
  return (
    <li className="flex flex-col gap-4 rounded-xl border border-line bg-raised p-5">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <div className="min-w-0">
          <p className="flex flex-wrap items-center gap-2 font-semibold">
            <span className="truncate">
              <span dir="auto">{summary.name ?? nameOfAgent(names, summary.agent_id)}</span>
            </span>
            <Badge tone={tone}>{label}</Badge>
          </p>
          <p className="text-muted">
            {summary.name !== null && `${nameOfAgent(names, summary.agent_id)}, `}
            {numberOf(summary.total)} {summary.total === 1 ? "number" : "numbers"}, created{" "}
            <Time at={summary.created_at} relative />
            {startsLater(summary) && (
              <>
                , starts <Time at={summary.start_at ?? ""} />
              </>
            )}
          </p>
        </div>
        <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
          <Link to="/calls" search={{ batch_id: summary.batch_id }} className="text-accent-ink hover:underline">
            Show calls
          </Link>
          <Controls summary={summary} />
        </div>
      </div>
      {batch.isPending ? (
        <Skeleton className="h-10" />
      ) : batch.isLoadingError ? (
        <ErrorState error={batch.error} onRetry={batch.refetch} />
      ) : (
        <Progress batch={batch.data} />
      )}
    </li>
  );
}

function startsLater({ start_at, ended_at }: Summary): boolean {
  return start_at !== null && ended_at === null && Date.parse(start_at) > Date.now();
}

const PARTS = [
  { count: "success", label: "Completed" },
  { count: "no_answer", label: "No answer" },
  { count: "busy", label: "Busy" },
  { count: "hung_up_early", label: "Hung up early" },
  { count: "error", label: "Failed" },
  { count: "cancelled", label: "Cancelled" },
  { count: "do_not_call", label: "Do not call" },
  { count: "calling", label: "Calling" },
  { count: "pending", label: "Waiting" },
] as const;

function Progress({ batch: { counts, total } }: { batch: Batch }) {
  const parts = PARTS.filter(({ count }) => counts[count] > 0);
  // Rounded down: all are done at 100%.
  const share = Math.floor(((total - counts.pending - counts.calling) / Math.max(1, total)) * 100) / 100;
  return (
    <div className="flex flex-col gap-2">
      <div
        role="progressbar"
        aria-label="Numbers done"
        aria-valuenow={share * 100}
        aria-valuetext={`${percentOf(share)} done`}
        className="h-2 overflow-hidden rounded-sm bg-hover"
      >
        <div className="h-full bg-accent" style={{ width: `${share * 100}%` }} />
      </div>
      <p className="flex flex-wrap gap-x-4 gap-y-1 text-[0.8125rem] text-muted">
        {parts.map(({ count, label }) => (
          <span key={count} className="flex items-center gap-1.5">
            {label}
            <span className="font-medium text-ink tabular-nums">{numberOf(counts[count])}</span>
          </span>
        ))}
        <span className="ml-auto tabular-nums">{percentOf(share)} done</span>
      </p>
    </div>
  );
}

function Controls({ summary: { batch_id, name, status, ended_at } }: { summary: Summary }) {
  const client = useQueryClient();
  const params = { path: { batch_id } };
  const refresh = () => client.invalidateQueries({ queryKey: CALLS });
  const turn = useMutation({
    mutationFn: () =>
      status === "PAUSED"
        ? api.POST("/v1/public/call-batches/{batch_id}/resume", { params })
        : api.POST("/v1/public/call-batches/{batch_id}/pause", { params }),
    onSuccess: refresh,
    onError: tellFailure,
  });
  if (ended_at !== null) return null;
  return (
    <div className="flex gap-2">
      <Button size="small" busy={turn.isPending} onClick={() => turn.mutate()}>
        {status === "PAUSED" ? "Resume" : "Pause"}
      </Button>
      <ConfirmButton
        button={{ size: "small" }}
        label="Cancel"
        title={name === null ? "Cancel this batch?" : `Cancel “${name}”?`}
        action="Cancel batch"
        write={() => api.POST("/v1/public/call-batches/{batch_id}/cancel", { params })}
        then={refresh}
      >
        Numbers that are still waiting will not be called. Calls that are ringing or in progress continue. This cannot
        be undone.
      </ConfirmButton>
    </div>
  );
}
