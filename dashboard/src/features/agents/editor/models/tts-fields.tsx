import { Field } from "../../../../ui/form/field.tsx";
import { Input } from "../../../../ui/form/input.tsx";
import { Select } from "../../../../ui/form/select.tsx";
import { type Endpoint, EndpointFields } from "./endpoint-fields.tsx";
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
  errorAt,
}: {
  value: TtsValue | null;
  onChange: (value: TtsValue | null) => void;
  models: Record<string, string[]>;
  errorAt: (path: string) => string | undefined;
}) {
  const provider = value?.provider_name ?? DEFAULT;
  const choose = (name: string) => {
    if (name === DEFAULT) return onChange(null);
    onChange({ provider_name: name, voice_id: "", ...(name === CUSTOM && { params: { base_url: "" } }) });
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
          onChange={choose}
          errorAt={errorAt}
        />
        {value && known.length > 0 && (
          <Field label="Model" error={errorAt("tts.model_name")}>
            {(control) => (
              <Select
                {...control}
                value={value.model_name ?? DEFAULT}
                onChange={(name) => onChange({ ...value, model_name: name === DEFAULT ? null : name })}
                options={[
                  { value: DEFAULT, label: "Provider default" },
                  ...known.map((name) => ({ value: name, label: name })),
                ]}
              />
            )}
          </Field>
        )}
        {value && (
          <Field label="Speed" optional error={errorAt("tts.params.speed")}>
            {(control) => (
              <Input
                {...control}
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
          </Field>
        )}
      </div>
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
          <Field label="Voice" error={errorAt("tts.voice_id")} className="max-w-xs">
            {(control) => (
              <Input
                {...control}
                value={value.voice_id}
                onChange={(event) => onChange({ ...value, voice_id: event.target.value })}
              />
            )}
          </Field>
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
