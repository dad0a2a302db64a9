import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { fieldsOf } from "../../../api/problem.ts";
import { DialogForm } from "../../../ui/form/dialog-form.tsx";
import { TextareaField, TextField } from "../../../ui/form/fields.tsx";
import { LoadingRows } from "../../../ui/states.tsx";
import { type Document, KNOWLEDGE } from "../knowledge.ts";
import { keyOf, textQuery } from "./documents.ts";
import { tellAdded, tellReplaced } from "./tell-replaced.ts";
import { upload } from "./upload.ts";

interface Props {
  baseId: string;
  kind: "text" | "page";
  /** The one whose content is replaced; undefined for a new one. */
  document?: Document;
  onSaved: () => void;
  onCancel: () => void;
}

/** Longer texts are uploaded as files. */
const TEXT_MAX = 1_000_000;
const MARKDOWN = "text/markdown";

/** The form of a document that is written here, or fetched from a page. */
export function ContentForm(props: Props) {
  const { document, kind } = props;
  const isCorrected = document !== undefined && kind === "text" && document.characters > 0;
  if (isCorrected && document.characters <= TEXT_MAX) return <CorrectionForm {...props} document={document} />;
  return <Form {...props} text="" />;
}

/** Begins with the text that the document has. */
function CorrectionForm(props: Props & { document: Document }) {
  const text = useQuery(textQuery(keyOf(props.document), props.document.updated_at));
  if (text.isPending) return <LoadingRows rows={3} />;
  return <Form {...props} text={text.data ?? ""} />;
}

function Form({ baseId, kind, document, text: before, onSaved, onCancel }: Props & { text: string }) {
  const client = useQueryClient();
  const [name, setName] = useState(document && kind === "text" ? document.name : "");
  const [text, setText] = useState(before);
  const [url, setUrl] = useState(document?.url ?? "");
  const [hours, setHours] = useState(document?.refresh_hours?.toString() ?? "");
  const ids = { baseId, documentId: document?.id ?? null };
  const save = useMutation({
    mutationFn: () => {
      const named = name.trim() !== "" && { name: name.trim() };
      const isText = kind === "text";
      // A document's text is Markdown, whatever it was made of.
      if (document && isText)
        return upload({ ...ids, ...named, file: new File([text], "text.md", { type: MARKDOWN }) });
      const page = { url: url.trim(), refresh_hours: hours === "" ? null : Number(hours) };
      const body = { ...named, ...(isText ? { text } : page) };
      return document
        ? api.PUT("/v1/public/knowledge-bases/{knowledge_base_id}/documents/{document_id}", {
            params: { path: keyOf(document) },
            body,
          })
        : api.POST("/v1/public/knowledge-bases/{knowledge_base_id}/documents", {
            params: { path: { knowledge_base_id: baseId } },
            body,
          });
    },
    onSuccess: async (stored) => {
      (document ? tellReplaced : tellAdded)(stored);
      onSaved();
      await client.invalidateQueries({ queryKey: KNOWLEDGE });
    },
  });
  const errors = fieldsOf(save.error);
  return (
    <DialogForm
      onSubmit={() => save.mutate()}
      busy={save.isPending}
      error={save.error}
      action={document ? "Replace" : "Add"}
      onCancel={onCancel}
    >
      <TextField
        label="Name"
        optional={kind === "page" || document !== undefined}
        hint={
          kind === "page"
            ? "Without one, the document is called after its address."
            : !document &&
              "A name that ends in .md makes the text Markdown, whose headings say what each part is about."
        }
        error={errors.get("name")}
        required={kind === "text" && !document}
        maxLength={255}
        placeholder={kind === "text" ? "prices.md" : "Prices"}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      {kind === "text" ? (
        <TextareaField
          label="Text"
          hint={
            document
              ? "In Markdown: lines that begin with # are headings, which say what each part is about."
              : "Upload longer texts than 1 MiB as files."
          }
          error={errors.get("text")}
          required
          rows={12}
          maxLength={TEXT_MAX}
          controlClass="font-mono text-[0.8125rem]"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      ) : (
        <>
          <TextField
            label="URL"
            hint="One page: text, HTML, PDF or DOCX. Links on it are not followed."
            error={errors.get("url")}
            required
            type="url"
            maxLength={2_000}
            placeholder="https://shop.example/prices"
            value={url}
            onChange={(event) => setUrl(event.target.value)}
          />
          <TextField
            label="Fetch again every … hours"
            optional
            hint="1 to 720. Without it, the page is fetched once, and when you ask for it."
            error={errors.get("refresh_hours")}
            type="number"
            min={1}
            max={720}
            controlClass="sm:w-40"
            value={hours}
            onChange={(event) => setHours(event.target.value)}
          />
        </>
      )}
    </DialogForm>
  );
}
