import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { FileText, Globe, SearchX, TextCursorInput } from "lucide-react";
import { useEffect, useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { FileDrop } from "../../../ui/form/file-drop.tsx";
import { SearchInput } from "../../../ui/form/search-input.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { Listed } from "../../../ui/listed.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { EmptyState } from "../../../ui/states.tsx";
import { baseQuery, type DocumentStatus } from "../knowledge.ts";
import { ContentForm } from "./content-form.tsx";
import { DOCUMENT_COLUMNS } from "./document-columns.tsx";
import { DOCUMENTS_PAGE_SIZE, documentsQuery, STATUSES } from "./documents.ts";
import { ACCEPTED } from "./upload.ts";
import { UploadList } from "./upload-list.tsx";
import { useUploads } from "./use-uploads.ts";

const ANY = "any";
const STATUS_OPTIONS = [
  { value: ANY, label: "All documents" },
  ...Object.entries(STATUSES).map(([value, { label }]) => ({ value, label })),
];

/** The documents of a knowledge base, and the ways to add some. */
export function DocumentsTab({ baseId }: { baseId: string }) {
  const { search, status, page } = useSearch({ from: "/signed-in/knowledge/$baseId" });
  const navigate = useNavigate({ from: "/knowledge/$baseId" });
  const client = useQueryClient();
  const uploads = useUploads(baseId);
  const [adding, setAdding] = useState<"text" | "page" | null>(null);
  const documents = useQuery(
    documentsQuery(baseId, { ...(search && { search }), ...(status && { status }), ...(page && { page }) }),
  );
  const pending = documents.data?.documents.filter((document) => document.status === "PENDING").length ?? 0;
  // The base's figures change when a document has been read.
  useEffect(() => {
    if (pending === 0) void client.invalidateQueries({ queryKey: baseQuery(baseId).queryKey });
  }, [client, baseId, pending]);
  const isFiltered = search !== undefined || status !== undefined;
  const close = () => setAdding(null);
  return (
    <div className="flex flex-col gap-4">
      <FileDrop
        aria-label="Upload files"
        accept={ACCEPTED}
        multiple
        prompt="Drop files here, or choose them: PDF, DOCX, HTML, Markdown, text or CSV, up to 20 MiB each."
        onChoose={uploads.add}
      />
      <UploadList uploads={uploads} />
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="flex flex-wrap gap-2 max-sm:w-full">
          <SearchInput
            label="Search documents by name"
            value={search ?? ""}
            onChange={(next) =>
              navigate({
                search: (before) => ({ ...before, page: undefined, search: next || undefined }),
                replace: true,
              })
            }
          />
          <Select
            quiet
            aria-label="Status"
            className="sm:w-36"
            value={status ?? ANY}
            onChange={(next) =>
              navigate({
                search: (before) => ({
                  ...before,
                  page: undefined,
                  status: next === ANY ? undefined : (next as DocumentStatus),
                }),
                replace: true,
              })
            }
            options={STATUS_OPTIONS}
          />
        </div>
        <div className="flex flex-wrap gap-2">
          <Button size="small" onClick={() => setAdding("text")}>
            <TextCursorInput aria-hidden /> Add text
          </Button>
          <Button size="small" onClick={() => setAdding("page")}>
            <Globe aria-hidden /> Add page
          </Button>
        </div>
      </div>
      <Listed
        query={documents}
        rows={documents.data?.documents}
        page={page}
        pageSize={DOCUMENTS_PAGE_SIZE}
        onPage={(next) => navigate({ search: (before) => ({ ...before, page: next }) })}
        label="Documents"
        columns={DOCUMENT_COLUMNS}
        rowKey={({ id }) => id}
        empty={
          isFiltered ? (
            <EmptyState icon={SearchX} title="No matching documents" />
          ) : (
            <EmptyState icon={FileText} title="No documents yet">
              Upload files, write a text, or give the address of a page. Agents find a document once it is ready.
            </EmptyState>
          )
        }
      />
      <Dialog
        open={adding !== null}
        onClose={close}
        title={adding === "page" ? "Add a page" : "Add a text"}
        size="large"
      >
        {adding && <ContentForm baseId={baseId} kind={adding} onSaved={close} onCancel={close} />}
      </Dialog>
    </div>
  );
}
