import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { numberOf } from "../../ui/numbers.ts";
import { ActionsMenu } from "../../ui/overlay/actions-menu.tsx";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { MenuItem } from "../../ui/overlay/menu.tsx";
import { BaseForm } from "./base-form.tsx";
import { KNOWLEDGE, type KnowledgeBase } from "./knowledge.ts";

/** Renames and deletes a knowledge base. */
export function BaseMenu({ base }: { base: KnowledgeBase }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<"edit" | "delete" | null>(null);
  const close = () => setAsked(null);
  const params = { path: { knowledge_base_id: base.id } };
  const leave = async () => {
    await navigate({ to: "/knowledge", search: {} });
    client.removeQueries({ queryKey: [...KNOWLEDGE, "one", base.id] });
    await client.invalidateQueries({ queryKey: KNOWLEDGE });
  };
  return (
    <>
      <ActionsMenu label={`Actions for ${base.name}`} variant="secondary" className="">
        <MenuItem onSelect={() => setAsked("edit")}>Name and description…</MenuItem>
        <MenuItem danger onSelect={() => setAsked("delete")}>
          Delete…
        </MenuItem>
      </ActionsMenu>
      <Dialog open={asked === "edit"} onClose={close} title="Name and description">
        <BaseForm base={base} onSaved={close} onCancel={close} />
      </Dialog>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete “${base.name}”?`}
        action="Delete knowledge base"
        write={() => api.DELETE("/v1/public/knowledge-bases/{knowledge_base_id}", { params })}
        done={`Deleted “${base.name}”`}
        then={leave}
      >
        Its documents, {numberOf(base.document_count)} in all, are deleted with it. Only a knowledge base that no agent
        uses can be deleted. This cannot be undone.
      </Confirm>
    </>
  );
}
