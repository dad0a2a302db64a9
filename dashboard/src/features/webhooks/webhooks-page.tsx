import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Webhook } from "lucide-react";
import { ListPage } from "../../app/list-page.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, MOMENT, ROW_LINK } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { NewDestinationDialog } from "./new-destination-dialog.tsx";
import { type Destination, destinationsQuery, failuresQuery } from "./queries.ts";
import { Receivers } from "./receivers.tsx";

export function WebhooksPage() {
  const destinations = useQuery(destinationsQuery);
  return (
    <ListPage
      title="Webhooks"
      description="What happens, such as the end of a conversation with its transcript and analysis, is sent to these URLs."
      query={destinations}
      rows={destinations.data}
      columns={COLUMNS}
      rowKey={({ destination_id }) => destination_id}
      making="New webhook"
      dialog={(shown) => <NewDestinationDialog {...shown} />}
      first={(make) => (
        <>
          <EmptyState icon={Webhook} title="No webhooks yet" action={make}>
            Enter the URL of your server. You can send it a sample event and see its response.
          </EmptyState>
          <Card title="Sample receiver" description="It verifies the signature, so no one else can send you events.">
            <Receivers />
          </Card>
        </>
      )}
    />
  );
}

export function DestinationStatus({ status }: Pick<Destination, "status">) {
  return status === "enabled" ? <Badge tone="success">Enabled</Badge> : <Badge>Disabled</Badge>;
}

/** When a delivery failed permanently, so that a webhook that receives nothing is seen in the list. */
function LastFailure({ destinationId }: { destinationId: string }) {
  const failures = useQuery(failuresQuery).data;
  if (!failures) return "…";
  const at = failures.lastByDestination.get(destinationId);
  if (at === undefined) return failures.isWhole ? "None" : "–";
  return (
    <Link
      to="/webhooks/$destinationId"
      params={{ destinationId }}
      search={{ status: "failed" }}
      className="relative text-danger-ink hover:underline"
    >
      <Time at={at} relative />
    </Link>
  );
}

const COLUMNS: readonly Column<Destination>[] = [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-40",
    cell: ({ destination_id, name, url }) => (
      <>
        <Link
          to="/webhooks/$destinationId"
          params={{ destinationId: destination_id }}
          search={{}}
          className={`${ROW_LINK} block truncate`}
          dir="auto"
        >
          {name}
        </Link>
        <span className="block truncate font-mono text-xs text-muted">{url}</span>
      </>
    ),
  },
  { name: "Status", wide: true, cell: ({ status }) => <DestinationStatus status={status} /> },
  {
    name: "Method",
    wide: true,
    cell: ({ request_type }) => <span className="font-mono text-xs text-muted">{request_type}</span>,
  },
  {
    name: "Last failure",
    ...MOMENT,
    wide: false,
    cell: ({ destination_id }) => <LastFailure destinationId={destination_id} />,
  },
  { name: "Created", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
];
