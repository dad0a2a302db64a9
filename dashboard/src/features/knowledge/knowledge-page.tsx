import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { BookOpen } from "lucide-react";
import { ListPage } from "../../app/list-page.tsx";
import { bytesOf, numberOf } from "../../ui/numbers.ts";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { EmptyState } from "../../ui/states.tsx";
import { type Column, FIGURES, MOMENT, ROW_LINK } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { BaseForm } from "./base-form.tsx";
import { BASES_PAGE_SIZE, basesQuery, type KnowledgeBase } from "./knowledge.ts";

/** The knowledge bases that agents answer from. */
export function KnowledgePage() {
  const { new: _, ...filters } = useSearch({ from: "/signed-in/knowledge" });
  const navigate = useNavigate({ from: "/knowledge" });
  const bases = useQuery(basesQuery(filters));
  return (
    <ListPage
      title="Knowledge"
      label="Knowledge bases"
      description="Documents that your agents answer from."
      search={{
        items: "knowledge bases",
        value: filters.search,
        onChange: (search) => navigate({ search: (before) => ({ ...before, page: undefined, search }), replace: true }),
        isFiltered: filters.search !== undefined,
        onClear: () => navigate({ search: {} }),
      }}
      query={bases}
      rows={bases.data?.knowledge_bases}
      page={filters.page}
      pageSize={BASES_PAGE_SIZE}
      onPage={(page) => navigate({ search: (before) => ({ ...before, page }) })}
      columns={COLUMNS}
      rowKey={({ id }) => id}
      making="New knowledge base"
      dialog={({ open, onClose }) => (
        <Dialog open={open} onClose={onClose} title="New knowledge base">
          <BaseForm
            onSaved={({ id }) => navigate({ to: "/knowledge/$baseId", params: { baseId: id }, search: {} })}
            onCancel={onClose}
          />
        </Dialog>
      )}
      first={(make) => (
        <EmptyState icon={BookOpen} title="Create your first knowledge base" action={make}>
          Upload price lists, manuals or answers to common questions. Your agents find the parts that answer a question,
          and show you where each answer came from.
        </EmptyState>
      )}
    />
  );
}

const COLUMNS: readonly Column<KnowledgeBase>[] = [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-40",
    cell: ({ id, name, description }) => (
      <>
        <Link
          to="/knowledge/$baseId"
          params={{ baseId: id }}
          search={{}}
          dir="auto"
          className={`${ROW_LINK} block truncate`}
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
  { name: "Documents", ...FIGURES, cell: ({ document_count }) => numberOf(document_count) },
  { name: "Chunks", wide: true, ...FIGURES, cell: ({ chunk_count }) => numberOf(chunk_count) },
  { name: "Size", wide: true, ...FIGURES, cell: ({ bytes }) => bytesOf(bytes) },
  { name: "Created", ...MOMENT, cell: ({ created_at }) => <Time at={created_at} relative /> },
];
