import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf, Problem } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { SelectField, TextareaField, TextField } from "../../ui/form/fields.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { PROMPT_TYPES, PROMPTS, type PromptType } from "./prompts.ts";

export function NewPromptDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="New prompt" size="large">
      <NewPromptForm onCancel={onClose} />
    </Dialog>
  );
}

function NewPromptForm({ onCancel }: { onCancel: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const [type, setType] = useState<PromptType>("main");
  const [content, setContent] = useState("");
  const make = useMutation({
    mutationFn: () =>
      api.POST("/v1/public/prompts", {
        params: { query: { new_only: true } },
        body: { prompt_name: name.trim(), prompt_content: content, prompt_metadata: { prompt_type: type } },
      }),
    onSuccess: async ({ prompt_name }) => {
      await client.invalidateQueries({ queryKey: PROMPTS });
      await navigate({ to: "/prompts/$promptName", params: { promptName: prompt_name } });
    },
  });
  const fields = fieldsOf(make.error);
  const isTaken = make.error instanceof Problem && make.error.status === 409 && fields.has("prompt_name");
  return (
    <DialogForm
      onSubmit={() => make.mutate()}
      busy={make.isPending}
      error={isTaken ? null : make.error}
      action="Create prompt"
      onCancel={onCancel}
    >
      <div className="grid gap-5 sm:grid-cols-[1fr_12rem]">
        <TextField
          label="Name"
          hint={
            isTaken ? (
              <Link
                to="/prompts/$promptName"
                params={{ promptName: name.trim() }}
                className="text-accent-ink underline"
              >
                Open “{name.trim()}” to add a version
              </Link>
            ) : (
              "Agents refer to the prompt by this name."
            )
          }
          error={isTaken ? "A prompt with this name exists. Choose another name." : fields.get("prompt_name")}
          required
          maxLength={100}
          value={name}
          onChange={(event) => {
            make.reset();
            setName(event.target.value);
          }}
        />
        <SelectField
          label="Purpose"
          value={type}
          onChange={(value) => setType(value as PromptType)}
          options={PROMPT_TYPES}
        />
      </div>
      <TextareaField
        label="Text"
        error={fields.get("prompt_content")}
        required
        rows={10}
        value={content}
        onChange={(event) => setContent(event.target.value)}
      />
    </DialogForm>
  );
}
