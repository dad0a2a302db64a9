import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, ask, type Schema } from "../../api/client.ts";
import { Problem, sentenceOf } from "../../api/problem.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { Notice } from "../../ui/states.tsx";
import { PROVIDER_OPTIONS, PROVIDERS, type Provider } from "./providers.ts";
import { CARRIERS } from "./queries.ts";

/** Asks for the credentials of an account, which are verified with the carrier before they are kept. */
export function ConnectDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog open={open} onClose={onClose} title="Connect a carrier">
      <ConnectForm onDone={onClose} />
    </Dialog>
  );
}

function ConnectForm({ onDone }: { onDone: () => void }) {
  const client = useQueryClient();
  const [provider, setProvider] = useState<Provider>("TWILIO");
  const [values, setValues] = useState<Record<string, string>>({});
  const { label, help, fields } = PROVIDERS[provider];
  const connect = useMutation({
    mutationFn: () => {
      const given = fields.flatMap(({ name }) => {
        const text = values[name]?.trim() ?? "";
        return text === "" ? [] : [[name, text]];
      });
      const body = { provider, ...Object.fromEntries(given) } as Schema["ConnectCarrierRequest"];
      return ask(api.POST("/v1/manage/carriers", { body }));
    },
    onSuccess: async () => {
      tellDone(`${label} is connected`);
      onDone();
      await client.invalidateQueries({ queryKey: CARRIERS });
    },
  });
  const errors = connect.error instanceof Problem ? connect.error.fields : new Map<string, string>();
  const isShown = fields.some(({ name }) => errors.has(name));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    connect.mutate();
  };
  return (
    <form onSubmit={submit} className="flex flex-col gap-5" autoComplete="off">
      <Field label="Provider" hint={help}>
        {(control) => (
          <Select
            {...control}
            value={provider}
            onChange={(value) => {
              connect.reset();
              setProvider(value as Provider);
            }}
            options={PROVIDER_OPTIONS}
          />
        )}
      </Field>
      {fields.map((field) => (
        <Field
          key={`${provider} ${field.name}`}
          label={field.label}
          hint={field.hint}
          optional={field.isOptional}
          error={errors.get(field.name)}
        >
          {(control) => (
            <Input
              {...control}
              type={field.isSecret ? "password" : "text"}
              autoComplete={field.isSecret ? "new-password" : "off"}
              spellCheck={false}
              required={!field.isOptional}
              maxLength={300}
              value={values[field.name] ?? ""}
              onChange={(event) => setValues({ ...values, [field.name]: event.target.value })}
            />
          )}
        </Field>
      ))}
      {connect.error && !isShown && <Notice tone="danger">{sentenceOf(connect.error)}</Notice>}
      <div className="flex justify-end gap-2 pb-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={connect.isPending}>
          Connect
        </Button>
      </div>
    </form>
  );
}
