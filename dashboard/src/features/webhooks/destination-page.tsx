import { EVENT_NAMES, type EventName } from "@parley/shared/portable/events";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { ChevronDown, Inbox, Send } from "lucide-react";
import { api } from "../../api/client.ts";
import { BackLink } from "../../app/back-link.tsx";
import { NotFound } from "../../app/failures.tsx";
import { Button } from "../../ui/button.tsx";
import { Copyable } from "../../ui/copy.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Menu, MenuItem } from "../../ui/overlay/menu.tsx";
import { tellDone, tellFailure } from "../../ui/overlay/toasts.tsx";
import { Page } from "../../ui/page.tsx";
import { EmptyState, ErrorState, LoadingRows, Notice } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Time } from "../../ui/time.tsx";
import { DeliveryList } from "./delivery-list.tsx";
import { DestinationMenu } from "./destination-menu.tsx";
import { DELIVERIES, DELIVERY_STATUSES, type DeliveryStatus, type Destination, destinationsQuery } from "./queries.ts";
import { Receivers } from "./receivers.tsx";
import { DestinationStatus } from "./webhooks-page.tsx";

const BACK = (
  <BackLink to="/webhooks" search={{}}>
    Webhooks
  </BackLink>
);

export function DestinationPage() {
  const { destinationId } = useParams({ from: "/signed-in/webhooks/$destinationId" });
  const destinations = useQuery(destinationsQuery);
  const destination = destinations.data?.find(({ destination_id }) => destination_id === destinationId);
  if (destination) return <Shown destination={destination} />;
  if (destinations.data) return <NotFound what="webhook" all="/webhooks" />;
  return (
    <Page title="Webhook" heading={BACK}>
      {destinations.isError ? (
        <ErrorState error={destinations.error} onRetry={destinations.refetch} />
      ) : (
        <LoadingRows />
      )}
    </Page>
  );
}

function Shown({ destination }: { destination: Destination }) {
  const { tab = "deliveries" } = useSearch({ from: "/signed-in/webhooks/$destinationId" });
  const navigate = useNavigate({ from: "/webhooks/$destinationId" });
  const tabs = [
    { value: "deliveries", label: "Deliveries", content: <Deliveries destination={destination} /> },
    { value: "receiver", label: "Example receiver", content: <Receivers /> },
  ];
  return (
    <Page
      title={destination.name}
      heading={
        <span className="flex flex-col gap-2">
          {BACK}
          <span className="flex flex-wrap items-center gap-2.5">
            {destination.name}
            <DestinationStatus status={destination.status} />
          </span>
        </span>
      }
      description={
        <span className="flex min-w-0 items-center gap-2">
          <span className="shrink-0 font-mono text-xs">{destination.request_type}</span>
          <Copyable text={destination.url} what="address" />
        </span>
      }
      actions={
        <>
          <SendTest destination={destination} />
          <DestinationMenu destination={destination} />
        </>
      }
    >
      {destination.old_secret_valid_until && (
        <Notice tone="warning">
          Deliveries are also signed with the previous secret until <Time at={destination.old_secret_valid_until} />.
        </Notice>
      )}
      <Tabs
        label="Webhook views"
        tabs={tabs}
        value={tab}
        onChange={(next) => navigate({ search: next === "receiver" ? { tab: "receiver" } : {}, replace: true })}
      />
    </Page>
  );
}

/** Sends a sample of the first event that the webhook gets, or of any other. */
function SendTest({ destination: { destination_id, status, events } }: { destination: Destination }) {
  const client = useQueryClient();
  const navigate = useNavigate({ from: "/webhooks/$destinationId" });
  const send = useMutation({
    mutationFn: (event: EventName) =>
      api.POST("/v1/manage/destinations/{destination_id}/test", {
        params: { path: { destination_id } },
        body: { event },
      }),
    onSuccess: async () => {
      tellDone("Sending a sample event");
      await navigate({ search: {} });
      await client.invalidateQueries({ queryKey: DELIVERIES });
    },
    onError: tellFailure,
  });
  const isOff = status === "disabled";
  const [first = "conversation.completed"] = EVENT_NAMES.filter((event) => events.includes(event));
  return (
    <>
      <Button variant="primary" busy={send.isPending} disabled={isOff} onClick={() => send.mutate(first)}>
        {!send.isPending && <Send aria-hidden />} Send a test
      </Button>
      <Menu
        trigger={
          <Button size="icon" className="size-9" disabled={isOff} aria-label="Send another event as a test">
            <ChevronDown aria-hidden />
          </Button>
        }
      >
        {EVENT_NAMES.map((event) => (
          <MenuItem key={event} onSelect={() => send.mutate(event)}>
            {event}
          </MenuItem>
        ))}
      </Menu>
    </>
  );
}

const ANY = "any";
const STATUS_OPTIONS = [
  { value: ANY, label: "All deliveries" },
  ...Object.entries(DELIVERY_STATUSES).map(([value, { label }]) => ({ value, label })),
];

const EVENT_OPTIONS = [
  { value: ANY, label: "All events" },
  ...EVENT_NAMES.map((event) => ({ value: event, label: event })),
];

function Deliveries({ destination: { destination_id } }: { destination: Destination }) {
  const { status, event, page } = useSearch({ from: "/signed-in/webhooks/$destinationId" });
  const navigate = useNavigate({ from: "/webhooks/$destinationId" });
  const chosen = { ...(status && { status }), ...(event && { event }) };
  const isFiltered = Object.keys(chosen).length > 0;
  const show = (next: { status: DeliveryStatus | undefined; event: EventName | undefined }) =>
    navigate({ search: { ...(next.status && { status: next.status }), ...(next.event && { event: next.event }) } });
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap gap-2">
        <div className="w-40">
          <Select
            quiet
            aria-label="Delivery status"
            value={status ?? ANY}
            onChange={(value) => show({ event, status: value === ANY ? undefined : (value as DeliveryStatus) })}
            options={STATUS_OPTIONS}
          />
        </div>
        <div className="w-60">
          <Select
            quiet
            aria-label="Event"
            value={event ?? ANY}
            onChange={(value) => show({ status, event: value === ANY ? undefined : (value as EventName) })}
            options={EVENT_OPTIONS}
          />
        </div>
      </div>
      <DeliveryList
        filter={{ destination_id, ...chosen, ...(page && { page }) }}
        onPage={(next) => navigate({ search: { ...chosen, page: next } })}
        empty={
          <EmptyState icon={Inbox} title={isFiltered ? "No matching deliveries" : "No deliveries yet"}>
            {isFiltered
              ? "Choose another status or event to see other deliveries."
              : "Send a test, or end a conversation with one of your agents. Deliveries are kept for 30 days."}
          </EmptyState>
        }
      />
    </div>
  );
}
