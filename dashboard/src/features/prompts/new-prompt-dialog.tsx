import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { fieldsOf, Problem, sentenceBeside } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { FormActions } from "../../ui/form/form-actions.tsx";
import { Input, Textarea } from "../../ui/form/input.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { Notice } from "../../ui/states.tsx";
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
      ask(
        api.POST("/v1/public/prompts", {
          params: { query: { new_only: true } },
          body: { prompt_name: name.trim(), prompt_content: content, prompt_metadata: { prompt_type: type } },
        }),
      ),
    onSuccess: async ({ prompt_name }) => {
      await client.invalidateQueries({ queryKey: PROMPTS });
      await navigate({ to: "/prompts/$promptName", params: { promptName: prompt_name } });
    },
  });
  const fields = fieldsOf(make.error);
  const isTaken = make.error instanceof Problem && make.error.status === 409 && fields.has("prompt_name");
  const failure = sentenceBeside(make.error, ["prompt_name", "prompt_content"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      <div className="grid gap-5 sm:grid-cols-[1fr_12rem]">
        <Field
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
        >
          {(control) => (
            <Input
              {...control}
              required
              maxLength={100}
              value={name}
              onChange={(event) => {
                make.reset();
                setName(event.target.value);
              }}
            />
          )}
        </Field>
        <Field label="Purpose">
          {(control) => (
            <Select
              {...control}
              value={type}
              onChange={(value) => setType(value as PromptType)}
              options={PROMPT_TYPES}
            />
          )}
        </Field>
      </div>
      <Field label="Text" error={fields.get("prompt_content")}>
        {(control) => (
          <Textarea
            {...control}
            required
            rows={10}
            value={content}
            onChange={(event) => setContent(event.target.value)}
          />
        )}
      </Field>
      {failure && <Notice tone="danger">{failure}</Notice>}
      <FormActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" busy={make.isPending}>
          Create prompt
        </Button>
      </FormActions>
    </form>
  );
}
