import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import type { Endpoint } from "./endpoint-fields.tsx";
import { SpeechFields, type SpeechProps } from "./speech-fields.tsx";

export interface SttValue {
  provider_name: string;
  model_name: string;
  language?: string | null;
  params?: Endpoint;
}

const CUSTOM = "CUSTOM_STT";

/** The speech recognition. */
export function SttFields(props: SpeechProps<SttValue>) {
  const { value, onChange, models, errorAt } = props;
  return (
    <SpeechFields
      {...props}
      path="stt"
      custom={CUSTOM}
      fresh={(name) => ({
        provider_name: name,
        model_name: name === CUSTOM ? "whisper-1" : (models[name]?.[0] ?? ""),
        ...(name === CUSTOM && { params: { base_url: "" } }),
      })}
      language="en-US"
      consequence="so it cannot hear"
    >
      {value?.provider_name === CUSTOM && (
        <TextField
          label="Model"
          error={errorAt("stt.model_name")}
          value={value.model_name}
          onChange={(event) => onChange({ ...value, model_name: event.target.value })}
        />
      )}
      {value && value.provider_name !== CUSTOM && (
        <SelectField
          label="Model"
          error={errorAt("stt.model_name")}
          value={value.model_name}
          onChange={(model_name) => onChange({ ...value, model_name })}
          options={(models[value.provider_name] ?? []).map((name) => ({ value: name, label: name }))}
        />
      )}
    </SpeechFields>
  );
}
