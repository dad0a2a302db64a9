import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ask } from "../../api/client.ts";
import { fieldsOf, sentenceBeside } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { FormActions } from "../../ui/form/form-actions.tsx";
import { Input } from "../../ui/form/input.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Notice } from "../../ui/states.tsx";
import { SECRETS, type Secret } from "./secrets.ts";

/** The form of a new secret, or of a secret's new value. @param secret the one that gets a new value; undefined for a new one */
export function SecretForm({
  secret,
  suggestedName = "",
  onSaved,
  onCancel,
}: {
  secret?: Pick<Secret, "name"> | undefined;
  suggestedName?: string;
  onSaved: (name: string) => void;
  onCancel: () => void;
}) {
  const client = useQueryClient();
  const [name, setName] = useState(secret?.name ?? suggestedName);
  const [value, setValue] = useState("");
  const save = useMutation({
    mutationFn: () =>
      ask(
        secret
          ? api.PUT("/v1/manage/secrets/{secret_name}", { params: { path: { secret_name: name } }, body: { value } })
          : api.POST("/v1/manage/secrets", { body: { name: name.trim(), value } }),
      ),
    onSuccess: async (saved) => {
      tellDone(secret ? `“${name}” has a new value` : `Added “${saved.name}”`);
      await client.invalidateQueries({ queryKey: SECRETS });
      onSaved(saved.name);
    },
  });
  const errors = fieldsOf(save.error);
  const failure = sentenceBeside(save.error, secret ? ["value"] : ["name", "value"]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The form may stand in another one, in a dialog of a page that is itself a form.
    event.stopPropagation();
    save.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5">
      {!secret && (
        <Field
          label="Name"
          hint="Tools refer to the secret by this name, which cannot change."
          error={errors.get("name")}
        >
          {(control) => (
            <Input
              {...control}
              required
              maxLength={64}
              autoComplete="off"
              className="font-mono"
              placeholder="shop_api_key"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
      )}
      <Field
        label={secret ? "New value" : "Value"}
        hint={
          secret
            ? "Tools send it from their next call on. At least 8 characters."
            : "It is stored encrypted and never shown again. At least 8 characters."
        }
        error={errors.get("value")}
      >
        {(control) => (
          <Input
            {...control}
            required
            type="password"
            autoComplete="new-password"
            maxLength={8_192}
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        )}
      </Field>
      {failure && <Notice tone="danger">{failure}</Notice>}
      <FormActions>
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" busy={save.isPending}>
          {secret ? "Save value" : "Add secret"}
        </Button>
      </FormActions>
    </form>
  );
}
