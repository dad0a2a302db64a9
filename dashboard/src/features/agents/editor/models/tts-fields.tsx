import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import type { Endpoint } from "./endpoint-fields.tsx";
import { DEFAULT, SpeechFields, type SpeechProps } from "./speech-fields.tsx";
import { VoicePicker } from "./voice-picker.tsx";

export interface TtsValue {
  provider_name: string;
  voice_id: string;
  model_name?: string | null;
  language?: string | null;
  params?: Endpoint & { speed?: number };
}

const CUSTOM = "CUSTOM_TTS";

/** The voice. */
export function TtsFields(props: SpeechProps<TtsValue>) {
  const { value, onChange, models, errorAt } = props;
  const provider = value?.provider_name ?? DEFAULT;
  const known = models[provider] ?? [];
  const { speed, ...endpoint } = value?.params ?? {};
  return (
    <>
      <SpeechFields
        {...props}
        path="tts"
        custom={CUSTOM}
        fresh={(name) => ({
          provider_name: name,
          voice_id: "",
          ...(name === CUSTOM && { params: { base_url: "" } }),
        })}
        language="The voice's own"
        consequence="so it cannot speak"
      >
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
      </SpeechFields>
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
