import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { BackLink } from "../../app/back-link.tsx";
import { isMissing, NotFound } from "../../app/failures.tsx";
import { bytesOf, numberOf } from "../../ui/numbers.ts";
import { Page } from "../../ui/page.tsx";
import { ErrorState, LoadingRows } from "../../ui/states.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { BaseMenu } from "./base-menu.tsx";
import { DocumentsTab } from "./documents/documents-tab.tsx";
import { baseQuery, type KnowledgeBase } from "./knowledge.ts";
import { SearchTab } from "./search/search-tab.tsx";

const BACK = (
  <BackLink to="/knowledge" search={{}}>
    Knowledge
  </BackLink>
);

/** A knowledge base: its documents, and a search that shows what a turn would get. */
export function KnowledgeBasePage() {
  const { baseId } = useParams({ from: "/signed-in/knowledge/$baseId" });
  const base = useQuery(baseQuery(baseId));
  if (base.data) return <Shown key={baseId} base={base.data} />;
  if (isMissing(base.error)) return <NotFound what="knowledge base" all="/knowledge" />;
  return (
    <Page title="Knowledge base" heading={BACK}>
      {base.isError ? <ErrorState error={base.error} onRetry={base.refetch} /> : <LoadingRows />}
    </Page>
  );
}

function Shown({ base }: { base: KnowledgeBase }) {
  const { tab = "documents" } = useSearch({ from: "/signed-in/knowledge/$baseId" });
  const navigate = useNavigate({ from: "/knowledge/$baseId" });
  return (
    <Page
      title={base.name}
      heading={
        <span className="flex flex-col gap-2">
          {BACK}
          {base.name}
        </span>
      }
      description={
        <>
          {base.description && (
            <span dir="auto" className="block">
              {base.description}
            </span>
          )}
          <span className="block text-[0.8125rem]">{figuresOf(base)}</span>
        </>
      }
      actions={<BaseMenu base={base} />}
    >
      <Tabs
        label="Knowledge base views"
        tabs={[
          { value: "documents", label: "Documents", content: <DocumentsTab baseId={base.id} /> },
          { value: "search", label: "Search", content: <SearchTab baseId={base.id} /> },
        ]}
        value={tab}
        onChange={(next) => navigate({ search: next === "search" ? { tab: "search" } : {}, replace: true })}
      />
    </Page>
  );
}

function figuresOf({ document_count, chunk_count, embedded_chunks, bytes }: KnowledgeBase): string {
  const documents = `${numberOf(document_count)} ${document_count === 1 ? "document" : "documents"}`;
  const chunks = `${numberOf(chunk_count)} ${chunk_count === 1 ? "chunk" : "chunks"}`;
  const embedded = embedded_chunks > 0 && `${numberOf(embedded_chunks)} also found by meaning`;
  return [documents, chunks, embedded, bytesOf(bytes)].filter(Boolean).join(" · ");
}
