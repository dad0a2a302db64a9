import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { api } from "../../api/client.ts";
import { Select } from "../../ui/form/select.tsx";
import { ConfirmButton } from "../../ui/overlay/confirm-button.tsx";
import { tellDone, tellFailure } from "../../ui/overlay/toasts.tsx";
import { Skeleton } from "../../ui/states.tsx";
import type { Column } from "../../ui/table.tsx";
import { AGENTS, type Agent } from "../agents/agents.ts";
import { distinctNames } from "../agents/distinct-names.ts";
import { NumberProof } from "./number-proof.tsx";
import { carrierName } from "./providers.ts";
import { assignableAgentsQuery, NUMBERS, type OwnNumber } from "./queries.ts";

export const NUMBER_COLUMNS: readonly Column<OwnNumber>[] = [
  {
    name: "Number",
    className: "font-medium tabular-nums whitespace-nowrap",
    cell: (number) => (
      <>
        {number.mobile_number}
        <div className="mt-1 max-w-28 whitespace-normal md:hidden">
          <NumberProof number={number} />
        </div>
      </>
    ),
  },
  {
    name: "Carrier",
    wide: true,
    className: "text-muted whitespace-nowrap",
    cell: ({ telephony_provider }) => carrierName(telephony_provider),
  },
  { name: "Proof", wide: true, cell: (number) => <NumberProof number={number} /> },
  { name: "Answered by", className: "w-full", cell: (number) => <Assigned number={number.mobile_number} /> },
  {
    name: "Actions",
    label: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (number) => <Remove number={number.mobile_number} />,
  },
];

const NOBODY = "nobody";

/** Which agent answers the number, with a choice of another one. */
function Assigned({ number }: { number: string }) {
  const client = useQueryClient();
  const agents = useQuery(assignableAgentsQuery);
  const current = agents.data?.find(({ published_mobile_number }) => published_mobile_number.includes(number));
  const waiting = agents.data?.find(
    ({ agent_mobile_number, published_mobile_number }) =>
      agent_mobile_number.includes(number) !== published_mobile_number.includes(number),
  );
  const assign = useMutation({
    mutationFn: async (agentId: string) => {
      const next = agents.data?.find(({ id }) => id === agentId);
      // The number belongs to one agent: giving it to the next one takes it away from the current one.
      const changed = next ?? current;
      if (next) await set(next, [...next.agent_mobile_number, number]);
      else if (current)
        await set(
          current,
          current.agent_mobile_number.filter((each) => each !== number),
        );
      return changed;
    },
    onSuccess: (changed) =>
      tellDone(
        changed?.publishing === "manual"
          ? `Saved as a version of “${changed.agent_name}” that is not published yet`
          : "Saved",
      ),
    onError: tellFailure,
    onSettled: () => client.invalidateQueries({ queryKey: AGENTS }),
  });
  if (!agents.data) return <Skeleton className="h-8 w-full max-w-64 min-w-24" />;
  return (
    <div className="max-w-64 min-w-24">
      <Select
        quiet
        aria-label={`Agent that answers ${number}`}
        value={assign.isPending ? assign.variables : (current?.id ?? NOBODY)}
        disabled={assign.isPending}
        onChange={(value) => assign.mutate(value)}
        options={[
          { value: NOBODY, label: "No agent" },
          ...[...distinctNames(agents.data)].map(([value, label]) => ({ value, label })),
        ]}
      />
      {waiting && (
        <Link
          to="/agents/$agentId"
          params={{ agentId: waiting.id }}
          search={{ tab: "versions" }}
          className="mt-1 line-clamp-3 text-xs text-warning-ink underline"
        >
          Unpublished change in “{waiting.agent_name}”
        </Link>
      )}
    </div>
  );
}

function set({ id, publishing }: Agent, numbers: string[]) {
  // A version that waits to be published takes no number over.
  const params = { path: { agent_id: id }, query: publishing === "auto" ? { move_numbers: true } : {} };
  return api.PATCH("/v1/public/agents/{agent_id}", { params, body: { agent_mobile_number: numbers } });
}

function Remove({ number }: { number: string }) {
  const client = useQueryClient();
  const params = { path: { mobile_number: number } };
  return (
    <ConfirmButton
      button={{ size: "small" }}
      label={
        <>
          <Trash2 className="sm:hidden" aria-hidden />
          <span className="max-sm:sr-only">Remove</span>
        </>
      }
      title={`Remove ${number}?`}
      action="Remove number"
      write={() => api.DELETE("/v1/manage/mobile-numbers/{mobile_number}", { params })}
      done={`Removed ${number}`}
      then={() => client.invalidateQueries({ queryKey: NUMBERS })}
    >
      Calls to it no longer reach Parley. An imported number gets back its previous settings at the carrier.
    </ConfirmButton>
  );
}
