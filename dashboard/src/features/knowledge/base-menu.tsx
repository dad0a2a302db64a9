import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { useState } from "react";
import { api, ask } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { numberOf } from "../../ui/numbers.ts";
import { Confirm } from "../../ui/overlay/confirm.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Menu, MenuItem } from "../../ui/overlay/menu.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { BaseForm } from "./base-form.tsx";
import { KNOWLEDGE, type KnowledgeBase } from "./knowledge.ts";

/** Renames and deletes a knowledge base. */
export function BaseMenu({ base }: { base: KnowledgeBase }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<"edit" | "delete" | null>(null);
  const close = () => setAsked(null);
  const remove = useMutation({
    mutationFn: () =>
      ask(
        api.DELETE("/v1/public/knowledge-bases/{knowledge_base_id}", {
          params: { path: { knowledge_base_id: base.id } },
        }),
      ),
    onSuccess: async () => {
      tellDone(`Deleted “${base.name}”`);
      await navigate({ to: "/knowledge", search: {} });
      client.removeQueries({ queryKey: [...KNOWLEDGE, "one", base.id] });
      await client.invalidateQueries({ queryKey: KNOWLEDGE });
    },
  });
  return (
    <>
      <Menu
        align="end"
        trigger={
          <Button size="icon" aria-label={`Actions for ${base.name}`}>
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        <MenuItem onSelect={() => setAsked("edit")}>Name and description…</MenuItem>
        <MenuItem danger onSelect={() => setAsked("delete")}>
          Delete…
        </MenuItem>
      </Menu>
      <Dialog open={asked === "edit"} onClose={close} title="Name and description">
        <BaseForm base={base} onSaved={close} onCancel={close} />
      </Dialog>
      <Confirm
        open={asked === "delete"}
        onClose={close}
        title={`Delete “${base.name}”?`}
        action="Delete knowledge base"
        write={remove}
      >
        Its documents, {numberOf(base.document_count)} in all, are deleted with it. Only a knowledge base that no agent
        uses can be deleted. This cannot be undone.
      </Confirm>
    </>
  );
}
