import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { BookOpen, Plus, SearchX } from "lucide-react";
import { useMaking } from "../../app/making.ts";
import { Button } from "../../ui/button.tsx";
import { SearchInput } from "../../ui/form/search-input.tsx";
import { Listed } from "../../ui/listed.tsx";
import { bytesOf, numberOf } from "../../ui/numbers.ts";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Page } from "../../ui/page.tsx";
import { afterPaint } from "../../ui/painted.ts";
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
  const [isMaking, setMaking] = useMaking();
  const isFiltered = filters.search !== undefined;
  const hasAny = isFiltered || (bases.data?.total ?? 0) > 0;
  const make = (
    <Button variant="primary" onClick={() => setMaking(true)}>
      <Plus aria-hidden /> New knowledge base
    </Button>
  );
  return (
    <Page title="Knowledge" description="Documents that your agents answer from." actions={hasAny && make}>
      {hasAny && (
        <SearchInput
          label="Search knowledge bases"
          value={filters.search ?? ""}
          onChange={(search) =>
            navigate({
              search: (before) => ({ ...before, page: undefined, search: search || undefined }),
              replace: true,
            })
          }
        />
      )}
      <Listed
        query={bases}
        rows={bases.data?.knowledge_bases}
        page={filters.page}
        pageSize={BASES_PAGE_SIZE}
        onPage={(page) => navigate({ search: (before) => ({ ...before, page }) })}
        label="Knowledge bases"
        columns={COLUMNS}
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <EmptyState
              icon={SearchX}
              title="No matching knowledge bases"
              action={<Button onClick={() => void afterPaint(() => navigate({ search: {} }))}>Clear the search</Button>}
            />
          ) : (
            <EmptyState icon={BookOpen} title="Create your first knowledge base" action={make}>
              Upload price lists, manuals or answers to common questions. Your agents find the parts that answer a
              question, and show you where each answer came from.
            </EmptyState>
          )
        }
      />
      <Dialog open={isMaking} onClose={() => setMaking(false)} title="New knowledge base">
        <BaseForm
          onSaved={({ id }) => navigate({ to: "/knowledge/$baseId", params: { baseId: id }, search: {} })}
          onCancel={() => setMaking(false)}
        />
      </Dialog>
    </Page>
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
