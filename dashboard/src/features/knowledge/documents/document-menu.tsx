import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { ActionsMenu } from "../../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../../ui/overlay/confirm.tsx";
import { Dialog } from "../../../ui/overlay/dialog.tsx";
import { MenuItem } from "../../../ui/overlay/menu.tsx";
import { tellDone, tellFailure } from "../../../ui/overlay/toasts.tsx";
import { type Document, KNOWLEDGE } from "../knowledge.ts";
import { keyOf } from "./documents.ts";
import { ReplaceForm } from "./replace-form.tsx";

/** Replaces, fetches again and deletes a document. @param onDeleted what follows its deletion */
export function DocumentMenu({ document, onDeleted }: { document: Document; onDeleted?: () => unknown }) {
  const client = useQueryClient();
  const [asked, setAsked] = useState<"replace" | "delete" | null>(null);
  const close = () => setAsked(null);
  const path = keyOf(document);
  const readAgain = () => client.invalidateQueries({ queryKey: KNOWLEDGE });
  const refresh = useMutation({
    mutationFn: () =>
      api.POST("/v1/public/knowledge-bases/{knowledge_base_id}/documents/{document_id}/refresh", {
        params: { path },
      }),
    onSuccess: async () => {
      tellDone("Fetching the page");
      await readAgain();
    },
    onError: tellFailure,
  });
  return (
    <>
      <ActionsMenu label={`Actions for ${document.name}`}>
        <MenuItem onSelect={() => setAsked("replace")}>Replace content…</MenuItem>
        {document.url !== null && <MenuItem onSelect={() => refresh.mutate()}>Fetch the page now</MenuItem>}
        <MenuItem danger onSelect={() => setAsked("delete")}>
          Delete…
        </MenuItem>
      </ActionsMenu>
      <Dialog
        open={asked === "replace"}
        onClose={close}
        title={`Replace the content of “${document.name}”`}
        description="The old content serves until the new one is read."
        size="large"
      >
        <ReplaceForm document={document} onSaved={close} onCancel={close} />
      </Dialog>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete “${document.name}”?`}
        action="Delete document"
        write={() =>
          api.DELETE("/v1/public/knowledge-bases/{knowledge_base_id}/documents/{document_id}", { params: { path } })
        }
        done={`Deleted “${document.name}”`}
        then={async () => {
          await onDeleted?.();
          await readAgain();
        }}
      >
        Agents no longer find it from their next answer on. This cannot be undone.
      </Confirm>
    </>
  );
}
