import { Field } from "../../../ui/form/field.tsx";
import { Input } from "../../../ui/form/input.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { providerLabel } from "../provider-labels.ts";
import { type Endpoint, EndpointFields } from "./endpoint-fields.tsx";

export interface SttValue {
  provider_name: string;
  model_name: string;
  language?: string | null;
  params?: Endpoint;
}

const CUSTOM = "CUSTOM_STT";
const DEFAULT = "default";

/** What recognises speech: the server's default, a provider's model, or a server of one's own. */
export function SttFields({
  value,
  onChange,
  models,
  errorAt,
}: {
  value: SttValue | null;
  onChange: (value: SttValue | null) => void;
  models: Record<string, string[]>;
  errorAt: (path: string) => string | undefined;
}) {
  const provider = value?.provider_name ?? DEFAULT;
  const choose = (name: string) => {
    if (name === DEFAULT) return onChange(null);
    const model_name = name === CUSTOM ? "whisper-1" : (models[name]?.[0] ?? "");
    onChange({ provider_name: name, model_name, ...(name === CUSTOM && { params: { base_url: "" } }) });
  };
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-3">
        <Field label="Provider" error={errorAt("stt.provider_name") ?? errorAt("stt")}>
          {(control) => (
            <Select
              {...control}
              value={provider}
              onChange={choose}
              options={[
                { value: DEFAULT, label: "This server's default" },
                ...Object.keys(models).map((name) => ({ value: name, label: providerLabel(name) })),
                { value: CUSTOM, label: providerLabel(CUSTOM) },
              ]}
            />
          )}
        </Field>
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
          <Field label="Language" optional error={errorAt("stt.language")}>
            {(control) => (
              <Input
                {...control}
                placeholder="en-US"
                value={value.language ?? ""}
                onChange={(event) => onChange({ ...value, language: event.target.value || null })}
              />
            )}
          </Field>
        )}
      </div>
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
