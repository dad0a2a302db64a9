import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { FileInput, Wrench } from "lucide-react";
import { ListPage } from "../../app/list-page.tsx";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Select } from "../../ui/form/select.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, MOMENT, ROW_LINK } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { NewToolDialog } from "./new-tool-dialog.tsx";
import {
  labelOfType,
  TOOL_TYPES,
  TOOLS_PAGE_SIZE,
  type Tool,
  type ToolFilters,
  type ToolType,
  toolsQuery,
} from "./tools.ts";

/** The library of tools that agents use. */
export function ToolsPage() {
  const { new: _, ...filters } = useSearch({ from: "/signed-in/tools" });
  const navigate = useNavigate({ from: "/tools" });
  const tools = useQuery(toolsQuery(filters));
  const filter = (changed: ToolFilters) =>
    navigate({ search: (before) => ({ ...before, page: undefined, ...changed }), replace: true });
  return (
    <ListPage
      title="Tools"
      description="What your agents can do in other systems, such as look up an order or book a table."
      search={{
        items: "tools",
        value: filters.search,
        onChange: (search) => filter({ search }),
        more: (
          <Select
            quiet
            aria-label="Type"
            className="sm:w-32"
            value={filters.type ?? "all"}
            onChange={(type) => filter({ type: type === "all" ? undefined : (type as ToolType) })}
            options={[
              { value: "all", label: "All types" },
              ...TOOL_TYPES.map(({ value, label }) => ({ value, label })),
            ]}
          />
        ),
        isFiltered: filters.search !== undefined || filters.type !== undefined,
        onClear: () => navigate({ search: {} }),
      }}
      query={tools}
      rows={tools.data?.tools}
      page={filters.page}
      pageSize={TOOLS_PAGE_SIZE}
      onPage={(page) => navigate({ search: (before) => ({ ...before, page }) })}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      making="New tool"
      ways={
        <Button asChild>
          <Link to="/tools/import">
            <FileInput aria-hidden /> Import
          </Link>
        </Button>
      }
      dialog={(shown) => <NewToolDialog {...shown} />}
      first={(make) => (
        <EmptyState icon={Wrench} title="Create your first tool" action={make}>
          A tool is a request that a model can make while it talks: to your server, to your page or app, or to an MCP
          server. Any number of agents can use it. <code className="font-mono">docs/tools.md</code> has a how-to, and
          the{" "}
          <a href="/docs#/Tools" target="_blank" rel="noopener" className="text-accent-ink underline">
            API reference
          </a>{" "}
          every field.
        </EmptyState>
      )}
    />
  );
}

const COLUMNS: readonly Column<Tool>[] = [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-40",
    cell: ({ id, name, description }) => (
      <>
        <Link
          to="/tools/$toolId"
          params={{ toolId: id }}
          search={{}}
          className={`${ROW_LINK} block truncate font-mono text-[0.8125rem]`}
        >
          {name}
        </Link>
        {description && (
          <span dir="auto" className="block truncate text-xs text-muted">
            {description}
          </span>
        )}
      </>
    ),
  },
  { name: "Type", cell: ({ type }) => <Badge>{labelOfType(type)}</Badge> },
  {
    name: "Address",
    wide: true,
    className: "max-w-72 font-mono text-xs text-muted",
    cell: ({ method, url }) => (
      <span className="block truncate">{url ? [method, hostOf(url)].filter(Boolean).join(" ") : "–"}</span>
    ),
  },
  { name: "Updated", ...MOMENT, cell: ({ updated_at }) => <Time at={updated_at} relative /> },
];

function hostOf(url: string): string {
  return /^https?:\/\/([^/?#]+)/.exec(url)?.[1] ?? url;
}
