import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
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
      secret
        ? api.PUT("/v1/manage/secrets/{secret_name}", { params: { path: { secret_name: name } }, body: { value } })
        : api.POST("/v1/manage/secrets", { body: { name: name.trim(), value } }),
    onSuccess: async (saved) => {
      tellDone(secret ? `“${name}” has a new value` : `Added “${saved.name}”`);
      await client.invalidateQueries({ queryKey: SECRETS });
      onSaved(saved.name);
    },
  });
  const errors = fieldsOf(save.error);
  return (
    <DialogForm
      onSubmit={() => save.mutate()}
      busy={save.isPending}
      error={save.error}
      action={secret ? "Save value" : "Add secret"}
      onCancel={onCancel}
    >
      {!secret && (
        <TextField
          label="Name"
          hint="Tools and agents refer to the secret by this name, which cannot change."
          error={errors.get("name")}
          required
          maxLength={64}
          autoComplete="off"
          controlClass="font-mono"
          placeholder="shop_api_key"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
      )}
      <TextField
        label={secret ? "New value" : "Value"}
        hint={
          secret
            ? "Tools send it from their next call on, models from their next turn on. At least 8 characters."
            : "It is stored encrypted and never shown again. At least 8 characters."
        }
        error={errors.get("value")}
        required
        type="password"
        autoComplete="new-password"
        maxLength={8_192}
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
    </DialogForm>
  );
}
