import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { Bot } from "lucide-react";
import { ListPage } from "../../app/list-page.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Select } from "../../ui/form/select.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, MOMENT, ROW_LINK } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { AGENT_TYPES, AGENTS_PAGE_SIZE, type Agent, type AgentFilters, type AgentType, agentsQuery } from "./agents.ts";
import { NewAgentDialog } from "./new-agent-dialog.tsx";
import { providerLabel } from "./provider-labels.ts";

export function AgentsPage() {
  const { new: _, ...filters } = useSearch({ from: "/signed-in/agents" });
  const navigate = useNavigate({ from: "/agents" });
  const agents = useQuery(agentsQuery(filters));
  const filter = (changed: AgentFilters) =>
    navigate({ search: (before) => ({ ...before, page: undefined, ...changed }), replace: true });
  return (
    <ListPage
      title="Agents"
      description="Each agent has its own prompt, model, and voice."
      search={{
        items: "agents",
        value: filters.search,
        onChange: (search) => filter({ search }),
        more: (
          <Select
            quiet
            aria-label="Type"
            className="sm:w-32"
            value={filters.agent_type ?? "all"}
            onChange={(type) => filter({ agent_type: type === "all" ? undefined : (type as AgentType) })}
            options={[{ value: "all", label: "All types" }, ...AGENT_TYPES]}
          />
        ),
        isFiltered: filters.search !== undefined || filters.agent_type !== undefined,
        onClear: () => navigate({ search: {} }),
      }}
      query={agents}
      rows={agents.data?.agents}
      page={filters.page}
      pageSize={AGENTS_PAGE_SIZE}
      onPage={(page) => navigate({ search: (before) => ({ ...before, page }) })}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      making="New agent"
      dialog={(shown) => <NewAgentDialog {...shown} />}
      first={(make) => (
        <EmptyState icon={Bot} title="Create your first agent" action={make}>
          Start from a template, try it in the browser, and refine it until it says what you want.
        </EmptyState>
      )}
    />
  );
}

const COLUMNS: readonly Column<Agent>[] = [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-40",
    cell: ({ id, agent_name, agent_description, latest_version: latest, published_version: published }) => (
      <>
        <span className="flex items-center gap-x-2 gap-y-1 max-sm:flex-wrap">
          <Link to="/agents/$agentId" params={{ agentId: id }} className={`${ROW_LINK} block truncate`} dir="auto">
            {agent_name}
          </Link>
          {published !== latest && (
            <Badge tone="warning">{published === null ? "Not published" : "Unpublished changes"}</Badge>
          )}
        </span>
        {agent_description && <span className="block truncate text-xs text-muted">{agent_description}</span>}
      </>
    ),
  },
  {
    name: "Type",
    cell: ({ agent_type }) => (
      <Badge>{AGENT_TYPES.find(({ value }) => value === agent_type)?.label ?? agent_type}</Badge>
    ),
  },
  {
    name: "Model",
    wide: true,
    className: "max-w-56",
    cell: ({ llm }) =>
      llm ? (
        <>
          <span className="block truncate">{llm.model_name}</span>
          <span className="block truncate text-xs text-muted">{providerLabel(llm.provider_name)}</span>
        </>
      ) : (
        <Badge tone="warning">None</Badge>
      ),
  },
  {
    name: "Numbers",
    wide: true,
    className: "text-muted tabular-nums whitespace-nowrap",
    cell: ({ published_mobile_number: numbers }) =>
      numbers.length === 0 ? "–" : numbers.length === 1 ? numbers[0] : `${numbers.length} numbers`,
  },
  { name: "Updated", ...MOMENT, cell: ({ updated_at }) => <Time at={updated_at} relative /> },
];
