import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { fieldsOf, sentenceBeside } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { FormActions } from "../../ui/form/form-actions.tsx";
import { Input, Textarea } from "../../ui/form/input.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Notice } from "../../ui/states.tsx";
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
      return ask(
        base
          ? api.PATCH("/v1/public/knowledge-bases/{knowledge_base_id}", {
              params: { path: { knowledge_base_id: base.id } },
              body,
            })
          : api.POST("/v1/public/knowledge-bases", { body }),
      );
    },
    onSuccess: async (saved) => {
      tellDone(base ? "Saved" : `Created “${saved.name}”`);
      await client.invalidateQueries({ queryKey: KNOWLEDGE });
      onSaved(saved);
    },
  });
  const errors = fieldsOf(save.error);
  const failure = sentenceBeside(save.error, ["name", "description"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      <Field label="Name" error={errors.get("name")}>
        {(control) => (
          <Input
            {...control}
            required
            maxLength={100}
            placeholder="Price lists"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
      <Field
        label="Description"
        optional
        hint="What is in it. A model that searches by itself reads this to decide when to search."
        error={errors.get("description")}
      >
        {(control) => (
          <Textarea
            {...control}
            rows={3}
            maxLength={500}
            placeholder="Prices and terms of delivery."
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        )}
      </Field>
      {failure && <Notice tone="danger">{failure}</Notice>}
      <FormActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" busy={save.isPending}>
          {base ? "Save" : "Create"}
        </Button>
      </FormActions>
    </form>
  );
}
