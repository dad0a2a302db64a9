import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Plus, ScrollText, SearchX } from "lucide-react";
import { useMemo } from "react";
import { useMaking } from "../../app/making.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { SearchInput } from "../../ui/form/search-input.tsx";
import { Listed } from "../../ui/listed.tsx";
import { Page } from "../../ui/page.tsx";
import { afterPaint } from "../../ui/painted.ts";
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
  const [isMaking, setMaking] = useMaking();
  const isFiltered = filters.search !== undefined;
  const hasAny = isFiltered || (prompts.data?.total ?? 0) > 0;
  const make = (
    <Button variant="primary" onClick={() => setMaking(true)}>
      <Plus aria-hidden /> New prompt
    </Button>
  );
  return (
    <Page
      title="Prompts"
      description="Texts that agents follow, shared or of one agent. Each change creates a version, and earlier versions are kept."
      actions={hasAny && make}
    >
      {hasAny && (
        <SearchInput
          label="Search prompts"
          value={filters.search ?? ""}
          onChange={(search) => navigate({ search: search ? { search } : {}, replace: true })}
        />
      )}
      <Listed
        query={prompts}
        rows={prompts.data?.prompts}
        page={filters.page}
        pageSize={PROMPTS_PAGE_SIZE}
        onPage={(page) => navigate({ search: (before) => ({ ...before, page }) })}
        label="Prompts"
        columns={columns}
        rowKey={({ prompt_name }) => prompt_name}
        empty={
          isFiltered ? (
            <EmptyState
              icon={SearchX}
              title="No matching prompts"
              action={<Button onClick={() => void afterPaint(() => navigate({ search: {} }))}>Clear search</Button>}
            />
          ) : (
            <EmptyState icon={ScrollText} title="No prompts yet" action={make}>
              Agents can share a prompt, so you change it in one place. Prompts that belong to a single agent appear
              here too.
            </EmptyState>
          )
        }
      />
      <NewPromptDialog open={isMaking} onClose={() => setMaking(false)} />
    </Page>
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
