import { useState } from "react";
import { Field, FieldError } from "../../../../ui/form/field.tsx";
import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { Textarea } from "../../../../ui/form/input.tsx";
import type { Changes } from "../../agents.ts";
import { providerLabel } from "../../provider-labels.ts";
import { type Entered, switched } from "./entered.ts";
import { keyHint, MissingKey, type ProviderSetup } from "./missing-key.tsx";

export type StsValue = NonNullable<Changes["sts"]>;

const NONE = "none";
const TEXTS = [
  { name: "model_name", label: "Model", placeholder: "The model's name at the provider", optional: false },
  { name: "voice_id", label: "Voice", placeholder: "Model default", optional: true },
  { name: "language", label: "Language", placeholder: "en-US", optional: true },
] as const;

/** One model that hears and speaks, in place of the other three on calls. */
export function StsFields({
  value,
  onChange,
  setups,
  entered,
  errorAt,
}: {
  value: StsValue | null;
  onChange: (value: StsValue | null) => void;
  setups: readonly ProviderSetup[];
  entered: Entered;
  errorAt: (path: string) => string | undefined;
}) {
  const provider = value?.provider_name ?? NONE;
  const choose = (name: string) => {
    const next = switched(entered, "sts", value, name, () => ({ provider_name: name, model_name: "" }));
    onChange(name === NONE ? null : next);
  };
  const names = setups.map(({ provider_name }) => provider_name);
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <SelectField
          label="Provider"
          error={errorAt("sts.provider_name") ?? errorAt("sts")}
          value={provider}
          onChange={choose}
          options={[
            { value: NONE, label: "None: use the models above" },
            // A voice runtime may know others.
            ...[...new Set([...names, ...(value ? [provider] : [])])].map((name) => ({
              value: name,
              label: providerLabel(name),
              hint: keyHint(setups, name),
            })),
          ]}
        />
        {value &&
          TEXTS.map(({ name, label, placeholder, optional }) => (
            <TextField
              key={name}
              label={label}
              optional={optional}
              error={errorAt(`sts.${name}`)}
              placeholder={placeholder}
              value={value[name] ?? ""}
              onChange={({ target }) => onChange({ ...value, [name]: target.value || (optional ? null : "") })}
            />
          ))}
      </div>
      <MissingKey setups={setups} provider={provider} consequence="so its calls are refused" />
      {value && (
        <Field
          label="Parameters"
          optional
          hint="A JSON object that is passed to the model."
          error={errorAt("sts.params")}
        >
          {(control) => (
            <Json {...control} value={value.params ?? {}} onChange={(params) => onChange({ ...value, params })} />
          )}
        </Field>
      )}
    </>
  );
}

type Params = Record<string, unknown>;

/** A JSON object. What is typed counts once it is one. */
function Json({
  value,
  onChange,
  ...control
}: {
  value: Params;
  onChange: (value: Params) => void;
  id: string;
  "aria-invalid": true | undefined;
}) {
  const [typed, setTyped] = useState<string | null>(null);
  const isWrong = typed !== null && objectIn(typed) === null;
  return (
    <>
      <Textarea
        {...control}
        aria-invalid={isWrong || control["aria-invalid"]}
        rows={3}
        spellCheck={false}
        className="field-sizing-content min-h-16 font-mono text-[0.8125rem]"
        value={typed ?? JSON.stringify(value, null, 2)}
        onChange={({ target }) => {
          setTyped(target.value);
          const params = objectIn(target.value);
          if (params) onChange(params);
        }}
      />
      <FieldError>{isWrong && "This is not a JSON object yet, so it is not saved."}</FieldError>
    </>
  );
}

function objectIn(text: string): Params | null {
  try {
    const value: unknown = JSON.parse(text.trim() || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Params) : null;
  } catch {
    return null;
  }
}
