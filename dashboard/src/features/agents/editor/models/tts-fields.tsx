import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { type Endpoint, EndpointFields } from "./endpoint-fields.tsx";
import { type Entered, switched } from "./entered.ts";
import { MissingKey, type ProviderSetup } from "./missing-key.tsx";
import { DEFAULT, SpeechProviderField } from "./speech-provider-field.tsx";
import { VoicePicker } from "./voice-picker.tsx";

export interface TtsValue {
  provider_name: string;
  voice_id: string;
  model_name?: string | null;
  language?: string | null;
  params?: Endpoint & { speed?: number };
}

const CUSTOM = "CUSTOM_TTS";

/** The voice: the server's default, a provider's, or one of the owner's own server. */
export function TtsFields({
  value,
  onChange,
  models,
  setups,
  entered,
  errorAt,
}: {
  value: TtsValue | null;
  onChange: (value: TtsValue | null) => void;
  models: Record<string, string[]>;
  setups: readonly ProviderSetup[];
  entered: Entered;
  errorAt: (path: string) => string | undefined;
}) {
  const provider = value?.provider_name ?? DEFAULT;
  const choose = (name: string) => {
    const next = switched(entered, "tts", value, name, () => ({
      provider_name: name,
      voice_id: "",
      ...(name === CUSTOM && { params: { base_url: "" } }),
    }));
    onChange(name === DEFAULT ? null : next);
  };
  const known = models[provider] ?? [];
  const { speed, ...endpoint } = value?.params ?? {};
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-3">
        <SpeechProviderField
          path="tts"
          provider={provider}
          models={models}
          custom={CUSTOM}
          setups={setups}
          onChange={choose}
          errorAt={errorAt}
        />
        {value && provider === CUSTOM && (
          <TextField
            label="Model"
            optional
            error={errorAt("tts.model_name")}
            placeholder="tts-1"
            value={value.model_name ?? ""}
            onChange={(event) => onChange({ ...value, model_name: event.target.value || null })}
          />
        )}
        {value && known.length > 0 && (
          <SelectField
            label="Model"
            error={errorAt("tts.model_name")}
            value={value.model_name ?? DEFAULT}
            onChange={(name) => onChange({ ...value, model_name: name === DEFAULT ? null : name })}
            options={[
              { value: DEFAULT, label: "Provider default" },
              ...known.map((name) => ({ value: name, label: name })),
            ]}
          />
        )}
        {value && (
          <TextField
            label="Speed"
            optional
            error={errorAt("tts.params.speed")}
            type="number"
            min={0.25}
            max={4}
            step={0.05}
            placeholder="1"
            value={speed ?? ""}
            onChange={({ target }) =>
              onChange({
                ...value,
                params: target.value === "" ? endpoint : { ...endpoint, speed: Number(target.value) },
              })
            }
          />
        )}
        {value && (
          <TextField
            label="Language"
            optional
            error={errorAt("tts.language")}
            placeholder="The voice's own"
            value={value.language ?? ""}
            onChange={(event) => onChange({ ...value, language: event.target.value || null })}
          />
        )}
      </div>
      <MissingKey setups={setups} provider={provider} consequence="so it cannot speak" />
      {value && provider === CUSTOM && (
        <EndpointFields
          params={endpoint}
          onChange={(changed) => onChange({ ...value, params: { ...value.params, ...changed } })}
          path="tts.params"
          errorAt={errorAt}
        />
      )}
      {value &&
        (provider === CUSTOM ? (
          <TextField
            label="Voice"
            error={errorAt("tts.voice_id")}
            className="max-w-xs"
            value={value.voice_id}
            onChange={(event) => onChange({ ...value, voice_id: event.target.value })}
          />
        ) : (
          <VoicePicker
            provider={provider}
            model={value.model_name ?? undefined}
            value={value.voice_id}
            onChange={(voice_id) => onChange({ ...value, voice_id })}
            error={errorAt("tts.voice_id")}
          />
        ))}
    </>
  );
}
