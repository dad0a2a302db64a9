import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { History, Play } from "lucide-react";
import { useMemo } from "react";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Listed } from "../../../ui/listed.tsx";
import { numberOf, percentOf } from "../../../ui/numbers.ts";
import { EmptyState } from "../../../ui/states.tsx";
import { type Column, FIGURES, MOMENT, ROW_LINK } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Agent } from "../agents.ts";
import { Author } from "./author.tsx";
import { publishWord } from "./publish-dialog.tsx";
import { type ListedVersion, VERSIONS_PAGE_SIZE, versionsQuery } from "./versions.ts";

/** The versions of an agent, newest first, each with a link that compares it. @param isNarrow leaves out what narrow screens do */
export function VersionList({
  agent,
  page,
  isNarrow,
  onPage,
  onTry,
  onPublish,
}: {
  agent: Agent;
  page: number | undefined;
  isNarrow: boolean;
  onPage: (page: number) => void;
  onTry: (version: number) => void;
  onPublish: (version: number) => void;
}) {
  const versions = useQuery(versionsQuery(agent.id, page));
  const columns = useMemo(
    () => columnsOf(agent, onTry, onPublish).filter(({ wide }) => !wide || !isNarrow),
    [agent, onTry, onPublish, isNarrow],
  );
  return (
    <Listed
      query={versions}
      rows={versions.data?.versions}
      page={page}
      pageSize={VERSIONS_PAGE_SIZE}
      onPage={onPage}
      label="Versions"
      columns={columns}
      rowKey={({ agent_version }) => String(agent_version)}
      empty={<EmptyState icon={History} title="No versions yet" />}
    />
  );
}

function columnsOf(
  agent: Agent,
  onTry: (version: number) => void,
  onPublish: (version: number) => void,
): readonly Column<ListedVersion>[] {
  return [
    {
      name: "Version",
      className: "whitespace-nowrap",
      cell: ({ agent_version: version, published, weight, created_at }) => (
        <>
          <span className="flex items-center gap-2 max-sm:flex-wrap">
            <Link
              to="/agents/$agentId"
              params={{ agentId: agent.id }}
              search={{ tab: "versions", version }}
              className={ROW_LINK}
            >
              Version {version}
            </Link>
            {weight === 100 ? (
              <Badge tone="success">Published</Badge>
            ) : weight > 0 ? (
              <Badge tone="accent">{weight}%</Badge>
            ) : (
              published && <Badge>Published, no share</Badge>
            )}
          </span>
          <span className="block text-xs text-muted md:hidden">
            <Time at={created_at} relative />
          </span>
        </>
      ),
    },
    {
      name: "Note",
      className: "max-w-0 w-full min-w-24",
      cell: ({ note }) => (
        <span dir="auto" title={note ?? undefined} className="relative line-clamp-2 wrap-anywhere text-muted">
          {note}
        </span>
      ),
    },
    {
      name: "Conversations",
      wide: true,
      ...FIGURES,
      // They cannot be read while the conversation service does not answer.
      cell: ({ figures }) => (figures ? numberOf(figures.conversations) : "Unknown"),
    },
    {
      name: "Completed",
      wide: "very",
      ...FIGURES,
      cell: ({ figures }) => (figures && figures.outcomes.n > 0 ? percentOf(completedIn(figures)) : "–"),
    },
    {
      name: "Made",
      ...MOMENT,
      className: "max-w-48 text-muted",
      cell: ({ created_by, created_at }) => (
        <>
          <Time at={created_at} relative />
          <span className="block truncate text-xs">
            <Author by={created_by} />
          </span>
        </>
      ),
    },
    {
      name: "Actions",
      label: <span className="sr-only">Actions</span>,
      align: "right",
      cell: ({ agent_version: version, weight }) => (
        <span className="relative flex justify-end gap-1">
          {weight < 100 && (
            <Button
              size="small"
              aria-label={`${publishWord(agent, version)}: version ${version}`}
              onClick={() => onPublish(version)}
            >
              {publishWord(agent, version)}
            </Button>
          )}
          <Button
            variant="ghost"
            size="icon"
            className="max-sm:hidden"
            aria-label={`Try version ${version}`}
            title="Try"
            onClick={() => onTry(version)}
          >
            <Play aria-hidden />
          </Button>
        </span>
      ),
    },
  ];
}

function completedIn({ outcomes }: NonNullable<ListedVersion["figures"]>): number {
  return outcomes.shares.COMPLETED ?? 0;
}
