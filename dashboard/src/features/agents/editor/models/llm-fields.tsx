import { Field } from "../../../../ui/form/field.tsx";
import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { Input } from "../../../../ui/form/input.tsx";
import { Select } from "../../../../ui/form/select.tsx";
import { providerLabel } from "../../provider-labels.ts";
import { type Endpoint, EndpointFields } from "./endpoint-fields.tsx";
import { type Entered, switched } from "./entered.ts";
import { keyHint, MissingKey, missingKey, type ProviderSetup } from "./missing-key.tsx";
import { type Pricing, PricingFields } from "./pricing-fields.tsx";

export interface LlmValue {
  provider_name: string;
  model_name: string;
  params?: Endpoint & { temperature?: number; API_TYPE?: "CHAT_COMPLETION" | "RESPONSES" };
  pricing?: Pricing | null;
}

export interface LlmCatalogue {
  models: Record<string, string[]>;
  setups: readonly ProviderSetup[];
}

const CUSTOM = "CUSTOM_LLM";
const PROTOCOLS = [
  { value: "CHAT_COMPLETION", label: "OpenAI chat completions" },
  { value: "RESPONSES", label: "OpenAI responses" },
];

/** A provider, its model and its temperature; or the address and the price of the owner's own model. */
export function LlmFields({
  value,
  onChange,
  catalogue: { models, setups },
  entered,
  path,
  errorAt,
}: {
  value: LlmValue | null;
  onChange: (value: LlmValue | null) => void;
  catalogue: LlmCatalogue;
  entered: Entered;
  path: string;
  errorAt: (path: string) => string | undefined;
}) {
  const provider = value?.provider_name ?? "";
  const params = value?.params ?? {};
  const choose = (name: string) =>
    onChange(
      switched(entered, path, value, name, () => ({
        provider_name: name,
        model_name: name === CUSTOM ? "" : (models[name]?.[0] ?? ""),
        params: params.temperature === undefined ? {} : { temperature: params.temperature },
      })),
    );
  const setParams = (changed: LlmValue["params"]) => value && onChange({ ...value, params: { ...params, ...changed } });
  const isUsable = (name: string) => missingKey(setups, name) === undefined;
  const names = Object.keys(models).toSorted((a, b) => Number(isUsable(b)) - Number(isUsable(a)));
  const setPricing = (pricing: Pricing | undefined) => {
    if (!value) return;
    const { pricing: _, ...others } = value;
    onChange(pricing ? { ...others, pricing } : others);
  };
  const known = models[provider] ?? [];
  return (
    <>
      <div className="grid gap-5 sm:grid-cols-2">
        <SelectField
          label="Provider"
          error={errorAt(`${path}.provider_name`) ?? errorAt(path)}
          value={provider}
          onChange={choose}
          options={[
            ...names.map((name) => ({
              value: name,
              label: providerLabel(name),
              hint: keyHint(setups, name),
            })),
            { value: CUSTOM, label: providerLabel(CUSTOM) },
          ]}
        />
        <Field label="Model" error={errorAt(`${path}.model_name`)}>
          {(control) =>
            provider === CUSTOM || !value ? (
              <Input
                {...control}
                disabled={!value}
                value={value?.model_name ?? ""}
                onChange={(event) => value && onChange({ ...value, model_name: event.target.value })}
              />
            ) : (
              <Select
                {...control}
                value={value.model_name}
                onChange={(model_name) => onChange({ ...value, model_name })}
                options={(known.includes(value.model_name) ? known : [value.model_name, ...known]).map((name) => ({
                  value: name,
                  label: name,
                }))}
              />
            )
          }
        </Field>
      </div>
      <MissingKey setups={setups} provider={provider} consequence="so the model is skipped" />
      {value && provider === CUSTOM && (
        <>
          <EndpointFields params={params} onChange={setParams} path={`${path}.params`} errorAt={errorAt} keyRequired />
          <SelectField
            label="Protocol"
            error={errorAt(`${path}.params.API_TYPE`)}
            className="max-w-xs"
            value={params.API_TYPE ?? "CHAT_COMPLETION"}
            onChange={(type) => setParams({ API_TYPE: type as NonNullable<typeof params.API_TYPE> })}
            options={PROTOCOLS}
          />
        </>
      )}
      {value && provider === CUSTOM && (
        <PricingFields pricing={value.pricing ?? {}} onChange={setPricing} path={`${path}.pricing`} errorAt={errorAt} />
      )}
      {value && (
        <TextField
          label="Temperature"
          optional
          hint="0 gives the most consistent replies, 2 the most varied."
          error={errorAt(`${path}.params.temperature`)}
          className="max-w-xs"
          type="number"
          min={0}
          max={2}
          step={0.1}
          placeholder="Model default"
          value={params.temperature ?? ""}
          onChange={({ target }) => {
            const { temperature: _, ...others } = params;
            onChange({
              ...value,
              params: target.value === "" ? others : { ...others, temperature: Number(target.value) },
            });
          }}
        />
      )}
    </>
  );
}
