import { useQuery } from "@tanstack/react-query";
import { Rocket } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import { Listed } from "../../../ui/listed.tsx";
import { EmptyState } from "../../../ui/states.tsx";
import { type Column, MOMENT } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import { Author } from "./author.tsx";
import { type PublishEntry, publishesQuery, VERSIONS_PAGE_SIZE } from "./versions.ts";

/** What was published of an agent, by whom and why. */
export function PublishLog({
  agentId,
  page,
  onPage,
}: {
  agentId: string;
  page: number | undefined;
  onPage: (page: number) => void;
}) {
  const publishes = useQuery(publishesQuery(agentId, page));
  return (
    <Listed
      query={publishes}
      rows={publishes.data?.publishes}
      page={page}
      pageSize={VERSIONS_PAGE_SIZE}
      onPage={onPage}
      label="Publish log"
      columns={COLUMNS}
      rowKey={({ number }) => String(number)}
      empty={
        <EmptyState icon={Rocket} title="Nothing was published yet">
          Publishing a version gives the agent its first conversations.
        </EmptyState>
      }
    />
  );
}

const COLUMNS: readonly Column<PublishEntry>[] = [
  {
    name: "What happened",
    className: "min-w-48",
    cell: (entry) => (
      <>
        <span className="block font-medium">{happenedIn(entry)}</span>
        {entry.note && (
          <span dir="auto" className="block break-words text-muted">
            {entry.note}
          </span>
        )}
        {entry.override_reason !== null && (
          <span className="mt-0.5 block break-words">
            <Badge tone="warning">Tests overridden</Badge> <span dir="auto">{entry.override_reason}</span>
          </span>
        )}
        <span className="block text-xs text-muted md:hidden">
          <Author by={entry.created_by} /> · <Time at={entry.created_at} relative />
        </span>
      </>
    ),
  },
  { name: "By", wide: true, className: "text-muted", cell: ({ created_by }) => <Author by={created_by} /> },
  { name: "When", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
];

function happenedIn({ kind, agent_version: version, split }: PublishEntry): string {
  switch (kind) {
    case "publish":
      return `Published version ${version}`;
    case "rollback":
      return `Rolled back to version ${version}`;
    case "automatic":
      return `Version ${version} took effect at once`;
    case "traffic":
      return `Split: ${(split ?? []).map((share) => `version ${share.agent_version} ${share.weight}%`).join(", ")}`;
    case "test_changed":
      return "A required test was changed";
    case "test_cleared":
      return "A required test was made optional";
    case "test_deleted":
      return "A required test was deleted";
  }
}
