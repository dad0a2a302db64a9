import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useState } from "react";
import { api } from "../../api/client.ts";
import { fieldsOf } from "../../api/problem.ts";
import { Checkbox } from "../../ui/form/checkbox.tsx";
import { DialogForm } from "../../ui/form/dialog-form.tsx";
import { SelectField, TextField } from "../../ui/form/fields.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { ShownSecret } from "../../ui/shown-secret.tsx";
import { KEYS, SCOPES, type Scope } from "./keys.ts";

const LIFETIMES = [
  { value: "never", label: "Never" },
  { value: "30", label: "In 30 days" },
  { value: "90", label: "In 90 days" },
  { value: "365", label: "In 1 year" },
];
const DAY_MS = 86_400_000;

/** Asks what the key is for, then shows it, once. */
export function NewKeyDialog({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [made, setMade] = useState<string | null>(null);
  const close = () => {
    setMade(null);
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={made ? "Copy your key now" : "New API key"}
      description={made ? "It is shown only this once. Store it with your program's other secrets." : undefined}
    >
      {made ? (
        <ShownSecret secret={made} what="API key" onDone={close} />
      ) : (
        <KeyForm onMade={setMade} onCancel={close} />
      )}
    </Dialog>
  );
}

function KeyForm({ onMade, onCancel }: { onMade: (apiKey: string) => void; onCancel: () => void }) {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [isLimited, setLimited] = useState(false);
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [lifetime, setLifetime] = useState("never");
  const scopesId = useId();
  const make = useMutation({
    mutationFn: () =>
      api.POST("/v1/manage/keys", {
        body: {
          name: name.trim() || null,
          scopes: isLimited ? [...scopes] : null,
          expires_at: lifetime === "never" ? null : new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString(),
        },
      }),
    onSuccess: async ({ api_key }) => {
      onMade(api_key);
      await client.invalidateQueries({ queryKey: KEYS });
    },
  });
  const fields = fieldsOf(make.error);
  const toggle = (scope: Scope, on: boolean) =>
    setScopes((chosen) => (on ? [...chosen, scope] : chosen.filter((each) => each !== scope)));
  return (
    <DialogForm
      onSubmit={() => make.mutate()}
      busy={make.isPending}
      disabled={isLimited && scopes.length === 0}
      error={make.error}
      action="Create key"
      onCancel={onCancel}
    >
      <TextField
        label="Name"
        hint="What will use the key, for example “Production server”."
        error={fields.get("name")}
        maxLength={100}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset className="flex flex-col gap-3">
        <legend id={scopesId} className="mb-2 font-medium">
          Permissions
        </legend>
        <Checkbox checked={!isLimited} onChange={(everything) => setLimited(!everything)} label="Full access" />
        {isLimited && (
          <div className="grid gap-2.5 rounded-lg border border-line p-3 sm:grid-cols-2">
            {SCOPES.map(({ value, label }) => (
              <Checkbox
                key={value}
                checked={scopes.includes(value)}
                onChange={(on) => toggle(value, on)}
                label={label}
                hint={<code className="font-mono text-xs">{value}</code>}
              />
            ))}
          </div>
        )}
      </fieldset>
      <SelectField
        label="Expires"
        error={fields.get("expires_at")}
        value={lifetime}
        onChange={setLifetime}
        options={LIFETIMES}
      />
    </DialogForm>
  );
}
