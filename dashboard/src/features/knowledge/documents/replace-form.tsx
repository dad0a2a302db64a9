import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { fieldsOf } from "../../../api/problem.ts";
import { DialogForm } from "../../../ui/form/dialog-form.tsx";
import { Field } from "../../../ui/form/field.tsx";
import { FileDrop } from "../../../ui/form/file-drop.tsx";
import { percentOf } from "../../../ui/numbers.ts";
import { Segments } from "../../../ui/segments.tsx";
import { type Document, KNOWLEDGE } from "../knowledge.ts";
import { ContentForm } from "./content-form.tsx";
import { tellReplaced } from "./tell-replaced.ts";
import { ACCEPTED, upload } from "./upload.ts";

const KINDS = [
  { value: "file", label: "File" },
  { value: "text", label: "Text" },
  { value: "page", label: "Page" },
] as const;
type Kind = (typeof KINDS)[number]["value"];

interface Props {
  document: Document;
  onSaved: () => void;
  onCancel: () => void;
}

/** Gives a document other content, which may be of another kind. */
export function ReplaceForm(props: Props) {
  const [kind, setKind] = useState<Kind>(props.document.url === null ? "file" : "page");
  const { document, ...others } = props;
  return (
    <div className="flex flex-col gap-5">
      <Segments label="Kind of content" options={KINDS} value={kind} onChange={setKind} />
      {kind === "file" ? (
        <FileForm {...props} />
      ) : (
        <ContentForm key={kind} baseId={document.knowledge_base_id} kind={kind} document={document} {...others} />
      )}
    </div>
  );
}

function FileForm({ document, onSaved, onCancel }: Props) {
  const client = useQueryClient();
  const [file, setFile] = useState<File>();
  const [share, setShare] = useState(0);
  const replace = useMutation({
    mutationFn: (chosen: File) =>
      upload({ baseId: document.knowledge_base_id, documentId: document.id, file: chosen }, setShare),
    onSuccess: async (stored) => {
      tellReplaced(stored);
      onSaved();
      await client.invalidateQueries({ queryKey: KNOWLEDGE });
    },
  });
  const submit = () => {
    if (file) replace.mutate(file);
  };
  return (
    <DialogForm
      onSubmit={submit}
      busy={replace.isPending}
      disabled={!file}
      error={replace.error}
      action={replace.isPending ? `Sending, ${percentOf(share)}` : "Replace"}
      onCancel={onCancel}
    >
      <Field label="File" error={fieldsOf(replace.error).get("file")}>
        {(control) => (
          <FileDrop
            {...control}
            accept={ACCEPTED}
            name={file?.name}
            prompt="Drop a file here, or choose one: PDF, DOCX, HTML, Markdown, text or CSV, up to 20 MiB."
            onChoose={([chosen]) => setFile(chosen)}
          />
        )}
      </Field>
    </DialogForm>
  );
}
