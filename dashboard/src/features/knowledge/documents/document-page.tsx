import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { useEffect, useRef } from "react";
import { BackLink } from "../../../app/back-link.tsx";
import { isMissing } from "../../../app/failures.tsx";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { bytesOf, numberOf } from "../../../ui/numbers.ts";
import { Page } from "../../../ui/page.tsx";
import { EmptyState, ErrorState, LoadingRows, Notice } from "../../../ui/states.tsx";
import { Time } from "../../../ui/time.tsx";
import { baseQuery, type Document } from "../knowledge.ts";
import { DocumentStatus } from "./document-columns.tsx";
import { DocumentMenu } from "./document-menu.tsx";
import { DocumentReplies } from "./document-replies.tsx";
import { chunkQuery, documentQuery, keyOf, textQuery } from "./documents.ts";
import { languageName } from "./language-name.ts";
import { shownPart } from "./shown-part.ts";

/** A document: what it is, and its text, opened at a chunk if the address names one. */
export function DocumentPage() {
  const { baseId, documentId } = useParams({ from: "/signed-in/knowledge/$baseId/documents/$documentId" });
  const found = useQuery(documentQuery({ knowledge_base_id: baseId, document_id: documentId }));
  const base = useQuery(baseQuery(baseId)).data;
  const back = (
    <BackLink to="/knowledge/$baseId" params={{ baseId }} search={{}}>
      {base?.name ?? "Documents"}
    </BackLink>
  );
  if (found.data) return <Shown key={documentId} document={found.data} back={back} />;
  return (
    <Page title="Document" heading={back}>
      {isMissing(found.error) ? (
        <EmptyState
          icon={Compass}
          title="This document does not exist"
          action={
            <Button asChild>
              <Link to="/knowledge/$baseId" params={{ baseId }} search={{}}>
                All documents
              </Link>
            </Button>
          }
        >
          It may have been deleted, or the address may have a typo.
        </EmptyState>
      ) : found.isError ? (
        <ErrorState error={found.error} onRetry={found.refetch} />
      ) : (
        <LoadingRows />
      )}
    </Page>
  );
}

function Shown({ document, back }: { document: Document; back: React.ReactNode }) {
  const navigate = useNavigate({ from: "/knowledge/$baseId/documents/$documentId" });
  const { error, status, characters, name } = document;
  return (
    <Page
      title={name}
      heading={
        <span className="flex flex-col gap-2">
          {back}
          <span className="flex flex-wrap items-center gap-2.5">
            {name}
            <DocumentStatus document={document} />
          </span>
        </span>
      }
      actions={
        <DocumentMenu
          document={document}
          onDeleted={() =>
            navigate({ to: "/knowledge/$baseId", params: { baseId: document.knowledge_base_id }, search: {} })
          }
        />
      }
    >
      {error && (
        <Notice tone={status === "FAILED" ? "danger" : "warning"}>
          {error}
          {status === "READY" && " The content from before serves."}
        </Notice>
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        {characters === 0 ? (
          <EmptyState icon={Compass} title={status === "PENDING" ? "The document is being read" : "There is no text"} />
        ) : (
          <TextOf document={document} />
        )}
        <div className="flex flex-col gap-6">
          <Card title="Details">
            <Details document={document} />
          </Card>
          <DocumentReplies document={keyOf(document)} />
        </div>
      </div>
    </Page>
  );
}

/** The text, of which a chunk is marked. */
function TextOf({ document }: { document: Document }) {
  const { chunk: chunkId } = useSearch({ from: "/signed-in/knowledge/$baseId/documents/$documentId" });
  const text = useQuery(textQuery(keyOf(document), document.updated_at));
  const chunk = useQuery({
    ...chunkQuery(keyOf(document), chunkId ?? "", document.updated_at),
    enabled: chunkId !== undefined,
  });
  const mark = useRef<HTMLElement>(null);
  const part = text.data === undefined ? null : shownPart(text.data, chunk.data?.text);
  const isFound = part !== null && part.marked !== "";
  useEffect(() => {
    if (isFound) mark.current?.scrollIntoView({ block: "center" });
  }, [isFound]);
  if (text.isError) return <ErrorState error={text.error} onRetry={text.refetch} />;
  if (part === null || (chunkId !== undefined && chunk.isPending)) return <LoadingRows />;
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {chunkId !== undefined && !chunk.data && (
        <Notice tone="warning">
          {isMissing(chunk.error)
            ? "This part is no longer in the document, whose content was replaced since."
            : "The part could not be read."}
        </Notice>
      )}
      {chunk.data && !isFound && (
        <Card title={chunk.data.heading || "The part that was found"}>
          <p dir="auto" className="break-words whitespace-pre-wrap">
            {chunk.data.text}
          </p>
        </Card>
      )}
      <article
        aria-label="Text"
        dir="auto"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
        tabIndex={0}
        className="max-h-[70vh] overflow-auto rounded-xl border border-line bg-raised p-5 break-words whitespace-pre-wrap"
      >
        {part.isCutBefore && <p className="mb-3 text-muted">… The beginning is left out here.</p>}
        {part.before}
        {isFound && (
          <mark ref={mark} className="rounded-sm bg-accent-soft text-accent-ink">
            {part.marked}
          </mark>
        )}
        {part.after}
        {part.isCutAfter && (
          <p className="mt-3 text-muted">… The rest is left out here. The API returns the whole text.</p>
        )}
      </article>
    </div>
  );
}

function Details({ document }: { document: Document }) {
  const { language, media_type, url, refresh_hours, refreshed_at, embedded_chunks } = document;
  const facts: readonly (readonly [string, React.ReactNode])[] = [
    ["Language", language && languageName(language)],
    ["Type", media_type],
    ["Size", bytesOf(document.bytes)],
    ["Characters", numberOf(document.characters)],
    ["Chunks", numberOf(document.chunk_count)],
    // Without an embedder there are none, which is no fault.
    ["Found by meaning", embedded_chunks > 0 && `${numberOf(embedded_chunks)} of ${numberOf(document.chunk_count)}`],
    ["Address", url && <span className="font-mono text-xs break-all">{url}</span>],
    ["Fetched again", url && (refresh_hours ? `every ${numberOf(refresh_hours)} h` : "on request")],
    ["Last fetched", refreshed_at && <Time at={refreshed_at} />],
    ["Added", <Time key="added" at={document.created_at} />],
    ["Changed", <Time key="changed" at={document.updated_at} />],
    [
      "ID",
      <span key="id" className="font-mono text-xs break-all select-all">
        {document.id}
      </span>,
    ],
  ];
  return (
    <dl className="flex flex-col gap-3">
      {facts.map(
        ([name, value]) =>
          value && (
            <div key={name} className="flex flex-wrap justify-between gap-x-4">
              <dt className="text-muted">{name}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  );
}
