import { Link } from "@tanstack/react-router";
import { Badge } from "../../../ui/badge.tsx";
import { bytesOf, numberOf } from "../../../ui/numbers.ts";
import { type Column, FIGURES, MOMENT, ROW_LINK } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import type { Document } from "../knowledge.ts";
import { DocumentMenu } from "./document-menu.tsx";
import { STATUSES } from "./documents.ts";
import { languageName } from "./language-name.ts";

export const DOCUMENT_COLUMNS: readonly Column<Document>[] = [
  {
    name: "Name",
    className: "max-w-0 w-full min-w-44",
    cell: ({ id, knowledge_base_id, name, error, url }) => (
      <>
        <Link
          to="/knowledge/$baseId/documents/$documentId"
          params={{ baseId: knowledge_base_id, documentId: id }}
          search={{}}
          dir="auto"
          className={`${ROW_LINK} block truncate`}
        >
          {name}
        </Link>
        {error ? (
          <span className="block text-xs text-danger-ink">{error}</span>
        ) : (
          url && url !== name && <span className="block truncate font-mono text-xs text-muted">{url}</span>
        )}
      </>
    ),
  },
  { name: "Status", cell: (document) => <DocumentStatus document={document} /> },
  {
    name: "Language",
    wide: "very",
    className: "text-muted",
    cell: ({ language }) => (language ? languageName(language) : "–"),
  },
  { name: "Size", wide: true, ...FIGURES, cell: ({ bytes }) => bytesOf(bytes) },
  {
    name: "Chunks",
    wide: true,
    ...FIGURES,
    cell: ({ chunk_count, embedded_chunks }) => (
      <>
        {numberOf(chunk_count)}
        {embedded_chunks > 0 && <span className="block text-xs">{numberOf(embedded_chunks)} by meaning</span>}
      </>
    ),
  },
  {
    name: "Updated",
    ...MOMENT,
    wide: "very",
    cell: ({ refreshed_at, updated_at, url }) => (
      <>
        <Time at={updated_at} relative />
        {url && refreshed_at && (
          <span className="block text-xs">
            fetched <Time at={refreshed_at} relative />
          </span>
        )}
      </>
    ),
  },
  {
    name: "Actions",
    label: <span className="sr-only">Actions</span>,
    align: "right",
    cell: (document) => <DocumentMenu document={document} />,
  },
];

/** With an error, a document that is ready serves older content. */
export function DocumentStatus({ document: { status, error } }: { document: Document }) {
  if (status === "READY" && error) return <Badge tone="warning">Older content</Badge>;
  const { label, tone } = STATUSES[status];
  return <Badge tone={tone}>{label}</Badge>;
}
