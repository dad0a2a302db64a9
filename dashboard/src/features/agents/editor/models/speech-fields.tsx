import type { ReactNode } from "react";
import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { providerLabel } from "../../provider-labels.ts";
import { type Endpoint, EndpointFields } from "./endpoint-fields.tsx";
import { type Entered, switched } from "./entered.ts";
import { keyHint, MissingKey, type ProviderSetup } from "./missing-key.tsx";

/** The option that leaves the choice to the server. */
export const DEFAULT = "default";

interface SpeechValue {
  provider_name: string;
  language?: string | null;
  params?: Endpoint;
}

export interface SpeechProps<Value> {
  /** Null for the server's default. */
  value: Value | null;
  onChange: (value: Value | null) => void;
  models: Record<string, string[]>;
  setups: readonly ProviderSetup[];
  entered: Entered;
  errorAt: (path: string) => string | undefined;
}

interface PartProps<Value> extends SpeechProps<Value> {
  path: "stt" | "tts";
  /** The provider name of the owner's own server. */
  custom: string;
  /** The settings of a provider that is chosen for the first time. */
  fresh: (provider: string) => Value;
  /** What stands in the field of the language while it is empty. */
  language: string;
  /** What it means that the operator has no key of the provider. */
  consequence: string;
  /** The fields between the provider and the language. */
  children: ReactNode;
}

/** What speech recognition and voice have in common: the server's default, a provider of the catalogue, or the owner's own server. */
export function SpeechFields<Value extends SpeechValue>({
  path,
  value,
  onChange,
  models,
  setups,
  entered,
  errorAt,
  custom,
  fresh,
  language,
  consequence,
  children,
}: PartProps<Value>) {
  const provider = value?.provider_name ?? DEFAULT;
  const choose = (name: string) => {
    const next = switched(entered, path, value, name, () => fresh(name));
    onChange(name === DEFAULT ? null : next);
  };
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-3">
        <SelectField
          label="Provider"
          error={errorAt(`${path}.provider_name`) ?? errorAt(path)}
          value={provider}
          onChange={choose}
          options={[
            { value: DEFAULT, label: "Server default" },
            ...[...Object.keys(models), custom].map((name) => ({
              value: name,
              label: providerLabel(name),
              hint: keyHint(setups, name),
            })),
          ]}
        />
        {children}
        {value && (
          <TextField
            label="Language"
            optional
            error={errorAt(`${path}.language`)}
            placeholder={language}
            value={value.language ?? ""}
            onChange={(event) => onChange({ ...value, language: event.target.value || null })}
          />
        )}
      </div>
      <MissingKey setups={setups} provider={provider} consequence={consequence} />
      {value && provider === custom && (
        <EndpointFields
          params={value.params ?? {}}
          onChange={(changed) => onChange({ ...value, params: { ...value.params, ...changed } })}
          path={`${path}.params`}
          errorAt={errorAt}
        />
      )}
    </>
  );
}
