import { Field } from "../../../../ui/form/field.tsx";
import { TextField } from "../../../../ui/form/fields.tsx";
import { Input } from "../../../../ui/form/input.tsx";
import { Select } from "../../../../ui/form/select.tsx";
import { type Endpoint, EndpointFields } from "./endpoint-fields.tsx";
import { type Entered, switched } from "./entered.ts";
import { MissingKey, type ProviderSetup } from "./missing-key.tsx";
import { DEFAULT, SpeechProviderField } from "./speech-provider-field.tsx";

export interface SttValue {
  provider_name: string;
  model_name: string;
  language?: string | null;
  params?: Endpoint;
}

const CUSTOM = "CUSTOM_STT";

/** The speech recognition: the server's default, a provider's model, or the owner's own server. */
export function SttFields({
  value,
  onChange,
  models,
  setups,
  entered,
  errorAt,
}: {
  value: SttValue | null;
  onChange: (value: SttValue | null) => void;
  models: Record<string, string[]>;
  setups: readonly ProviderSetup[];
  entered: Entered;
  errorAt: (path: string) => string | undefined;
}) {
  const provider = value?.provider_name ?? DEFAULT;
  const choose = (name: string) => {
    const next = switched(entered, "stt", value, name, () => ({
      provider_name: name,
      model_name: name === CUSTOM ? "whisper-1" : (models[name]?.[0] ?? ""),
      ...(name === CUSTOM && { params: { base_url: "" } }),
    }));
    onChange(name === DEFAULT ? null : next);
  };
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-3">
        <SpeechProviderField
          path="stt"
          provider={provider}
          models={models}
          custom={CUSTOM}
          setups={setups}
          onChange={choose}
          errorAt={errorAt}
        />
        {value && (
          <Field label="Model" error={errorAt("stt.model_name")}>
            {(control) =>
              provider === CUSTOM ? (
                <Input
                  {...control}
                  value={value.model_name}
                  onChange={(event) => onChange({ ...value, model_name: event.target.value })}
                />
              ) : (
                <Select
                  {...control}
                  value={value.model_name}
                  onChange={(model_name) => onChange({ ...value, model_name })}
                  options={(models[provider] ?? []).map((name) => ({ value: name, label: name }))}
                />
              )
            }
          </Field>
        )}
        {value && (
          <TextField
            label="Language"
            optional
            error={errorAt("stt.language")}
            placeholder="en-US"
            value={value.language ?? ""}
            onChange={(event) => onChange({ ...value, language: event.target.value || null })}
          />
        )}
      </div>
      <MissingKey setups={setups} provider={provider} consequence="so it cannot hear" />
      {value && provider === CUSTOM && (
        <EndpointFields
          params={value.params ?? {}}
          onChange={(changed) => onChange({ ...value, params: { ...value.params, ...changed } })}
          path="stt.params"
          errorAt={errorAt}
        />
      )}
    </>
  );
}
