import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/form/field.tsx";
import { Select } from "../../ui/form/select.tsx";
import { Dialog } from "../../ui/overlay/dialog.tsx";
import { SecretForm } from "./secret-form.tsx";
import { secretsQuery } from "./secrets.ts";

/** A choice of a secret by its name, which can also make one. @param value "" for none */
export function SecretField({
  label,
  value,
  onChange,
  error,
}: {
  label: string;
  value: string;
  onChange: (name: string) => void;
  error?: string | undefined;
}) {
  const secrets = useQuery(secretsQuery);
  const [isMaking, setMaking] = useState(false);
  const names = secrets.data?.map(({ name }) => name) ?? [];
  const isKnown = value === "" || names.includes(value);
  const options = [
    ...names.map((name) => ({ value: name, label: name })),
    ...(isKnown ? [] : [{ value, label: value, hint: secrets.data && "deleted" }]),
  ];
  return (
    <>
      <Field label={label} error={error}>
        {(control) => (
          <span className="flex gap-2">
            <Select
              {...control}
              value={value}
              onChange={onChange}
              options={options}
              placeholder={names.length === 0 ? "No secret yet" : "Choose a secret…"}
            />
            <Button aria-label={`New secret: ${label}`} onClick={() => setMaking(true)}>
              <Plus aria-hidden /> New
            </Button>
          </span>
        )}
      </Field>
      <Dialog open={isMaking} onClose={() => setMaking(false)} title="New secret">
        <SecretForm
          onSaved={(name) => {
            setMaking(false);
            onChange(name);
          }}
          onCancel={() => setMaking(false)}
        />
      </Dialog>
    </>
  );
}
