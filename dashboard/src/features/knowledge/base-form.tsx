import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { TextareaField, TextField } from "../../ui/form/fields.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { KNOWLEDGE, type KnowledgeBase } from "./knowledge.ts";

/** The form of a knowledge base. @param base the one to change; undefined for a new one */
export function BaseForm({
  base,
  onSaved,
  onCancel,
}: {
  base?: KnowledgeBase;
  onSaved: (base: KnowledgeBase) => void;
  onCancel: () => void;
}) {
  const client = useQueryClient();
  const [name, setName] = useState(base?.name ?? "");
  const [description, setDescription] = useState(base?.description ?? "");
  const save = useMutation({
    mutationFn: () => {
      const body = { name: name.trim(), description: description.trim() };
      return base
        ? api.PATCH("/v1/public/knowledge-bases/{knowledge_base_id}", {
            params: { path: { knowledge_base_id: base.id } },
            body,
          })
        : api.POST("/v1/public/knowledge-bases", { body });
    },
    onSuccess: async (saved) => {
      tellDone(base ? "Saved" : `Created “${saved.name}”`);
      await client.invalidateQueries({ queryKey: KNOWLEDGE });
      onSaved(saved);
    },
  });
  const errors = fieldsOf(save.error);
  return (
    <DialogForm
      onSubmit={() => save.mutate()}
      busy={save.isPending}
      error={save.error}
      action={base ? "Save" : "Create"}
      onCancel={onCancel}
    >
      <TextField
        label="Name"
        error={errors.get("name")}
        required
        maxLength={100}
        placeholder="Price lists"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <TextareaField
        label="Description"
        optional
        hint="What is in it. A model that searches by itself reads this to decide when to search."
        error={errors.get("description")}
        rows={3}
        maxLength={500}
        placeholder="Prices and terms of delivery."
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
    </DialogForm>
  );
}
