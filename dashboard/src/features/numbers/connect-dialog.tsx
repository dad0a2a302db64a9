import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, type Schema } from "../../api/client.ts";
import { fieldsOf, messageAt } from "../../api/problem.ts";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { Field } from "../../ui/form/field.tsx";
import { SelectField } from "../../ui/form/fields.tsx";
import { Input } from "../../ui/form/input.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { tellDone } from "../../ui/overlay/toasts.tsx";
import { AgentField } from "../agents/agent-field.tsx";
import { PROVIDER_OPTIONS, PROVIDERS, type Provider, type ProviderField } from "./providers.ts";
import { CARRIERS } from "./queries.ts";
import { TrunkTarget } from "./trunk-target.tsx";

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
      const given = fields.flatMap(({ name, kind }) => {
        const text = values[name]?.trim() ?? "";
        return text === "" ? [] : [[name, kind === "list" ? text.split(/[\s,]+/).filter(Boolean) : text]];
      });
      const body = { provider, ...Object.fromEntries(given) } as Schema["ConnectCarrierRequest"];
      return api.POST("/v1/manage/carriers", { body });
    },
    onSuccess: async () => {
      tellDone(`${label} is connected`);
      onDone();
      await client.invalidateQueries({ queryKey: CARRIERS });
    },
  });
  const errors = fieldsOf(connect.error);
  return (
    <DialogForm
      onSubmit={() => connect.mutate()}
      busy={connect.isPending}
      error={connect.error}
      action="Connect"
      onCancel={onDone}
      autoComplete="off"
    >
      <SelectField
        label="Provider"
        hint={help}
        value={provider}
        onChange={(value) => {
          connect.reset();
          setProvider(value as Provider);
        }}
        options={PROVIDER_OPTIONS}
      />
      {fields.map((field) => (
        <ConnectField
          key={`${provider} ${field.name}`}
          field={field}
          value={values[field.name] ?? ""}
          onChange={(value) => setValues({ ...values, [field.name]: value })}
          error={messageAt(errors, field.name)}
        />
      ))}
      {provider === "SIP" && <TrunkTarget transport={values.transport} />}
    </DialogForm>
  );
}

function ConnectField({
  field: { label, hint, kind, options = [], isOptional = false, isSecret = false },
  value,
  onChange,
  error,
}: {
  field: ProviderField;
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}) {
  if (kind === "agent")
    return <AgentField {...{ value, onChange, hint, error }} without={isOptional ? "None" : undefined} />;
  return (
    <Field label={label} hint={hint} optional={isOptional} error={error}>
      {(control) =>
        kind === "choice" ? (
          <Select
            {...control}
            value={value || (options[0] ?? "")}
            onChange={onChange}
            options={options.map((option) => ({ value: option, label: option }))}
          />
        ) : (
          <Input
            {...control}
            type={isSecret ? "password" : "text"}
            autoComplete={isSecret ? "new-password" : "off"}
            spellCheck={false}
            required={!isOptional}
            maxLength={kind === "list" ? 2_000 : 300}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
        )
      }
    </Field>
  );
}
