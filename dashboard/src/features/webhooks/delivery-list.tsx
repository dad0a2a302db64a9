import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight, RotateCw } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { api } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copy.tsx";
import { PastEnd } from "../../ui/listed.tsx";
import { ActionsMenu } from "../../ui/overlay/actions-menu.tsx";
import { MenuItem } from "../../ui/overlay/menu.tsx";
import { tellDone, tellFailure } from "../../ui/overlay/toasts.tsx";
import { Pagination } from "../../ui/pagination.tsx";
import { ErrorState, LoadingRows } from "../../ui/states.tsx";
import { Time } from "../../ui/time.tsx";
import { Attempts, Payload } from "./attempts.tsx";
import {
  DELIVERIES,
  DELIVERIES_SHOWN,
  DELIVERY_STATUSES,
  type Delivery,
  type DeliveryFilter,
  deliveriesQuery,
  destinationsQuery,
  sentDeliveryQuery,
} from "./queries.ts";

/** Deliveries as lines that open to their attempts. @param empty in place of an empty list */
export function DeliveryList({
  filter,
  onPage,
  empty,
}: {
  filter: DeliveryFilter;
  onPage: (page: number) => void;
  empty: ReactNode;
}) {
  const found = useQuery(deliveriesQuery(filter));
  // If all deliveries belong to one webhook, its name adds nothing.
  const destinations = useQuery({ ...destinationsQuery, enabled: filter.destination_id === undefined }).data;
  const nameOf = ({ destination_id }: Delivery) =>
    filter.destination_id === undefined
      ? destinations?.find((each) => each.destination_id === destination_id)?.name
      : undefined;
  if (found.isPending) return <LoadingRows rows={4} />;
  if (found.isLoadingError) return <ErrorState error={found.error} onRetry={found.refetch} />;
  if (found.data.total === 0) return empty;
  if (found.data.deliveries.length === 0) return <PastEnd onFirst={() => onPage(1)} />;
  return (
    <div className="flex flex-col gap-4">
      <ul
        aria-label="Deliveries"
        className="divide-y divide-line overflow-hidden rounded-xl border border-line bg-raised"
      >
        {found.data.deliveries.map((delivery) => (
          <DeliveryLine key={delivery.delivery_id} delivery={delivery} destination={nameOf(delivery)} />
        ))}
      </ul>
      <Pagination page={filter.page ?? 1} pageSize={DELIVERIES_SHOWN} total={found.data.total} onPage={onPage} />
    </div>
  );
}

function DeliveryLine({ delivery, destination }: { delivery: Delivery; destination: string | undefined }) {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  const { label, tone } = DELIVERY_STATUSES[delivery.status];
  const last = delivery.attempts.at(-1);
  return (
    <li>
      <div className="flex items-center gap-2 pr-3 hover:bg-hover">
        <button
          type="button"
          aria-expanded={isOpen}
          aria-controls={id}
          className="flex min-w-0 flex-1 items-center gap-3 px-4 py-3 text-left outline-offset-[-2px]"
          onClick={() => setOpen(!isOpen)}
        >
          <ChevronRight
            className={`size-4 shrink-0 text-muted motion-safe:transition-transform ${isOpen ? "rotate-90" : ""}`}
            aria-hidden
          />
          <span className="flex min-w-0 flex-1 items-center gap-3 max-sm:flex-col max-sm:items-start max-sm:gap-1.5">
            <span className="min-w-0 max-w-full flex-1">
              <span className="flex flex-wrap items-center gap-x-2 gap-y-1">
                {destination && (
                  <span dir="auto" className="truncate font-medium">
                    {destination}
                  </span>
                )}
                <span className={`truncate font-mono text-[0.8125rem] ${destination ? "text-muted" : ""}`}>
                  {delivery.event}
                </span>
                {delivery.is_test && <Badge>Test</Badge>}
              </span>
              <span className="block truncate text-xs text-muted">{summaryOf(delivery, last)}</span>
            </span>
            <span className="w-20 shrink-0">
              <Badge tone={tone}>{label}</Badge>
            </span>
            <span className="w-28 shrink-0 text-right text-muted max-sm:hidden">
              <Time at={delivery.created_at} relative />
            </span>
          </span>
        </button>
        <span className="flex shrink-0 justify-end sm:w-24">
          <Resend delivery={delivery} />
        </span>
      </div>
      {isOpen && (
        <div id={id} className="border-t border-line bg-surface px-4 py-4">
          <Opened delivery={delivery} />
        </div>
      )}
    </li>
  );
}

function summaryOf({ next_attempt_at }: Delivery, last: Delivery["attempts"][number] | undefined): string {
  if (!last) return "Not attempted yet";
  const count = `${last.number} ${last.number === 1 ? "attempt" : "attempts"}`;
  const outcome = last.error ?? `status ${last.http_status}`;
  return `${count}${next_attempt_at ? " so far" : ""} · ${outcome}`;
}

function Opened({ delivery }: { delivery: Delivery }) {
  const sent = useQuery(sentDeliveryQuery(delivery));
  return (
    <div className="flex flex-col gap-4">
      <dl className="grid gap-x-8 gap-y-2 sm:grid-cols-2">
        <Fact name="Event ID">
          <Copyable text={delivery.event_id} what="event ID" />
        </Fact>
        <Fact name="Conversation">
          {delivery.is_test || delivery.conversation_id === null ? (
            <span className="text-muted">{delivery.is_test ? "None (sample event)" : "None"}</span>
          ) : (
            <Link
              to="/conversations/$conversationId"
              params={{ conversationId: delivery.conversation_id }}
              search={{}}
              className="text-accent-ink hover:underline"
            >
              Open
            </Link>
          )}
        </Fact>
        {delivery.next_attempt_at && (
          <Fact name="Next attempt">
            <Time at={delivery.next_attempt_at} seconds />
          </Fact>
        )}
      </dl>
      {sent.isPending ? (
        <LoadingRows rows={2} />
      ) : sent.isLoadingError ? (
        <ErrorState error={sent.error} onRetry={sent.refetch} />
      ) : (
        <>
          <Payload payload={sent.data.payload} />
          <Attempts attempts={sent.data.attempts} />
        </>
      )}
    </div>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-8 min-w-0 items-center gap-3">
      <dt className="shrink-0 text-muted">{name}</dt>
      <dd className="min-w-0">{children}</dd>
    </div>
  );
}

/** A failed delivery has a button; one that arrived is sent again from a menu, so that it does not happen by mistake. */
function Resend({ delivery }: { delivery: Delivery }) {
  const client = useQueryClient();
  const resend = useMutation({
    mutationFn: () =>
      api.POST("/v1/manage/deliveries/{delivery_id}/resend", {
        params: { path: { delivery_id: delivery.delivery_id } },
      }),
    onSuccess: async () => {
      tellDone("Resending the delivery");
      await client.invalidateQueries({ queryKey: DELIVERIES });
    },
    onError: tellFailure,
  });
  if (delivery.status === "pending") return null;
  if (delivery.status !== "delivered")
    return (
      <Button size="small" busy={resend.isPending} onClick={() => resend.mutate()}>
        {!resend.isPending && <RotateCw aria-hidden />}
        <span className="max-sm:sr-only">Resend</span>
      </Button>
    );
  return (
    <ActionsMenu label="Delivery actions" busy={resend.isPending}>
      <MenuItem onSelect={() => resend.mutate()}>Resend</MenuItem>
    </ActionsMenu>
  );
}
