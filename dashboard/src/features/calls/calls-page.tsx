import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { PhoneOff, PhoneOutgoing, X } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { api } from "../../api/client.ts";
import { useMaking } from "../../app/making.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Listed } from "../../ui/listed.tsx";
import { durationOf } from "../../ui/numbers.ts";
import { tellDone, tellFailure } from "../../ui/overlay/toasts.tsx";
import { Page } from "../../ui/page.tsx";
import { Segments } from "../../ui/segments.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, FIGURES, MOMENT, ROW_LINK } from "../../ui/table.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
import { type AgentNames, agentNamesQuery, nameOfAgent } from "../agents/agents.ts";
import { OUTCOMES } from "../conversations/names.tsx";
import { Batches } from "./batches.tsx";
import { DoNotCall } from "./do-not-call.tsx";
import { NewCallDialog } from "./new-call-dialog.tsx";
import { CALL_STATUSES, CALL_TABS, CALL_VIEWS, CALLS, CALLS_SHOWN, type Call, callsQuery } from "./queries.ts";

export function CallsPage() {
  const { tab: shown } = useSearch({ from: "/signed-in/calls" });
  const navigate = useNavigate({ from: "/calls" });
  const [isMaking, setMaking] = useMaking();
  const make = (
    <Button variant="primary" onClick={() => setMaking(true)}>
      <PhoneOutgoing aria-hidden /> New call
    </Button>
  );
  const tabs = [
    { value: "calls", label: "Calls", content: <CallList make={make} /> },
    { value: "batches", label: "Batches", content: <Batches /> },
    { value: "do-not-call", label: "Do not call", content: <DoNotCall /> },
  ];
  return (
    <Page
      title="Calls"
      description="Outbound calls by your agents, from queued to ended. Calls are kept here for 30 days."
      actions={make}
    >
      <Tabs
        label="Call views"
        tabs={tabs}
        value={shown ?? "calls"}
        onChange={(next) => navigate({ search: inTab(CALL_TABS.find((each) => each === next)), replace: true })}
      />
      <NewCallDialog open={isMaking} onClose={() => setMaking(false)} />
    </Page>
  );
}

function inTab(tab: (typeof CALL_TABS)[number] | undefined) {
  return tab ? { tab } : {};
}

/** @param make makes a call, when there is none */
function CallList({ make }: { make: ReactNode }) {
  const { status, batch_id, page } = useSearch({ from: "/signed-in/calls" });
  const navigate = useNavigate({ from: "/calls" });
  const ofBatch = batch_id ? { batch_id } : {};
  const filters = { ...ofBatch, ...(status && { status }), ...(page && { page }) };
  const isFiltered = status !== undefined || batch_id !== undefined;
  const calls = useQuery(callsQuery(filters));
  const names = useQuery(agentNamesQuery).data;
  const canAct = calls.data?.calls.some((call) => call.status !== "ENDED") ?? false;
  const columns = useMemo(() => columnsOf(names, canAct), [names, canAct]);
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-2">
        <Segments
          label="Status"
          options={CALL_VIEWS}
          value={status ?? ""}
          onChange={(next) => navigate({ search: { ...ofBatch, ...(next !== "" && { status: next }) }, replace: true })}
        />
        {batch_id && (
          <Button size="small" onClick={() => navigate({ search: status ? { status } : {} })}>
            Calls of one batch <X aria-hidden />
            <span className="sr-only">Remove filter</span>
          </Button>
        )}
      </div>
      <Listed
        query={calls}
        rows={calls.data?.calls}
        page={filters.page}
        pageSize={CALLS_SHOWN}
        onPage={(next) => navigate({ search: { ...filters, page: next } })}
        label="Calls"
        columns={columns}
        rowKey={({ call_id }) => call_id}
        empty={
          <EmptyState icon={PhoneOutgoing} title={isFiltered ? "No matching calls" : "No calls yet"} action={make}>
            {isFiltered
              ? "No calls match these filters right now."
              : "Have an agent call someone from one of your numbers, and follow the call here."}
          </EmptyState>
        }
      />
    </div>
  );
}

function columnsOf(names: AgentNames | undefined, canAct: boolean): readonly Column<Call>[] {
  return [
    {
      name: "To",
      cell: (call) => (
        <>
          {call.status === "QUEUED" ? (
            <span className="block font-medium tabular-nums whitespace-nowrap">{call.to_mobile_number}</span>
          ) : (
            <Link
              to="/conversations/$conversationId"
              params={{ conversationId: call.conversation_id }}
              search={{}}
              className={`${ROW_LINK} block tabular-nums whitespace-nowrap`}
            >
              {call.to_mobile_number}
            </Link>
          )}
          <span className="block text-xs whitespace-nowrap text-muted tabular-nums">
            from {call.from_mobile_number}
          </span>
        </>
      ),
    },
    {
      name: "Agent",
      wide: true,
      className: "max-w-56 truncate",
      cell: ({ agent_id }) => nameOfAgent(names, agent_id),
    },
    { name: "Status", className: "max-w-0 w-full min-w-32", cell: (call) => <Standing call={call} /> },
    {
      name: "Duration",
      wide: true,
      ...FIGURES,
      cell: ({ duration_seconds }) => (duration_seconds === null ? "–" : durationOf(duration_seconds)),
    },
    { name: "Created", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
    // A column of its own only when there is something to do.
    ...(canAct
      ? [
          {
            name: "Actions",
            label: <span className="sr-only">Actions</span>,
            align: "right" as const,
            className: "py-0!",
            cell: (call: Call) => call.status !== "ENDED" && <HangUp call={call} />,
          },
        ]
      : []),
  ];
}

/** The call's state; for an ended call, its outcome. */
function Standing({ call: { status, outcome, notes } }: { call: Call }) {
  const { label, tone } = outcome ? OUTCOMES[outcome] : CALL_STATUSES[status];
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
      <Badge tone={tone}>{label}</Badge>
      {notes && (
        <span title={notes} className="relative min-w-24 flex-1 truncate text-xs text-muted">
          {notes}
        </span>
      )}
    </span>
  );
}

function HangUp({ call }: { call: Call }) {
  const client = useQueryClient();
  const hangUp = useMutation({
    mutationFn: () => api.POST("/v1/public/calls/{call_id}/hangup", { params: { path: { call_id: call.call_id } } }),
    onSuccess: async () => {
      tellDone(call.status === "QUEUED" ? "Removed from the queue" : "Hanging up");
      await client.invalidateQueries({ queryKey: CALLS });
    },
    onError: tellFailure,
  });
  return (
    <Button size="small" className="relative" busy={hangUp.isPending} onClick={() => hangUp.mutate()}>
      {!hangUp.isPending && <PhoneOff aria-hidden />} {call.status === "QUEUED" ? "Cancel" : "Hang up"}
      <span className="sr-only">{call.to_mobile_number}</span>
    </Button>
  );
}
