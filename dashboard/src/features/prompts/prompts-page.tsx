import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { ScrollText } from "lucide-react";
import { useMemo } from "react";
import { ListPage } from "../../app/list-page.tsx";
import { Badge } from "../../ui/badge.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, FIGURES, MOMENT, ROW_LINK } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { type AgentNames, agentNamesQuery } from "../agents/agents.ts";
import { NewPromptDialog } from "./new-prompt-dialog.tsx";
import { agentOf, ownPromptTitle, PROMPT_TYPES, PROMPTS_PAGE_SIZE, type Prompt, promptsQuery } from "./prompts.ts";

export function PromptsPage() {
  const { new: _, ...filters } = useSearch({ from: "/signed-in/prompts" });
  const navigate = useNavigate({ from: "/prompts" });
  const prompts = useQuery(promptsQuery(filters));
  const names = useQuery(agentNamesQuery).data;
  const columns = useMemo(() => columnsOf(names), [names]);
  return (
    <ListPage
      title="Prompts"
      description="Texts that agents follow, shared or of one agent. Each change creates a version, and earlier versions are kept."
      search={{
        items: "prompts",
        value: filters.search,
        onChange: (search) => navigate({ search: { search }, replace: true }),
        isFiltered: filters.search !== undefined,
        onClear: () => navigate({ search: {} }),
      }}
      query={prompts}
      rows={prompts.data?.prompts}
      page={filters.page}
      pageSize={PROMPTS_PAGE_SIZE}
      onPage={(page) => navigate({ search: (before) => ({ ...before, page }) })}
      columns={columns}
      rowKey={({ prompt_name }) => prompt_name}
      making="New prompt"
      dialog={(shown) => <NewPromptDialog {...shown} />}
      first={(make) => (
        <EmptyState icon={ScrollText} title="No prompts yet" action={make}>
          Agents can share a prompt, so you change it in one place. Prompts that belong to a single agent appear here
          too.
        </EmptyState>
      )}
    />
  );
}

/** @param names of the agents, under which their own prompts are shown */
const columnsOf = (names: AgentNames | undefined): readonly Column<Prompt>[] => [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-40",
    cell: ({ prompt_name, prompt_content }) => (
      <>
        <span className="flex items-center gap-2">
          <Link
            to="/prompts/$promptName"
            params={{ promptName: prompt_name }}
            className={`${ROW_LINK} truncate`}
            dir="auto"
          >
            {ownPromptTitle(prompt_name, names?.byId.get(agentOf(prompt_name) ?? "")) ?? prompt_name}
          </Link>
          {agentOf(prompt_name) && <Badge>One agent</Badge>}
        </span>
        <span className="block truncate text-xs text-muted">{prompt_content}</span>
      </>
    ),
  },
  {
    name: "Purpose",
    wide: true,
    className: "text-muted whitespace-nowrap",
    cell: ({ prompt_metadata: { prompt_type } }) => PROMPT_TYPES.find(({ value }) => value === prompt_type)?.label,
  },
  { name: "Version", ...FIGURES, cell: ({ prompt_version }) => prompt_version },
  { name: "Updated", ...MOMENT, cell: ({ updated_at }) => <Time at={updated_at} relative /> },
];
