import { useQuery } from "@tanstack/react-query";
import { NumberField, SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { agentQuery, modelSetupQuery, providersQuery } from "../../agents.ts";
import { keyHint } from "../../editor/models/missing-key.tsx";
import { providerLabel } from "../../provider-labels.ts";
import type { TestModel } from "./form.ts";

const OWN = "own";
const CUSTOM = "CUSTOM_LLM";

/** A model that plays the user or judges; the agent's own unless another one is chosen. @param value null for the agent's own */
export function TestModelFields({
  label,
  agentId,
  value,
  onChange,
  path,
  errorAt,
}: {
  label: string;
  agentId: string;
  value: TestModel | null;
  onChange: (value: TestModel | null) => void;
  path: string;
  errorAt: (path: string) => string | undefined;
}) {
  const models = useQuery(providersQuery).data?.llm ?? {};
  const setups = useQuery(modelSetupQuery).data?.llm ?? [];
  const llm = useQuery(agentQuery(agentId)).data?.llm;
  const choose = (name: string) => {
    if (name === OWN) return onChange(null);
    if (name !== CUSTOM) return onChange({ provider_name: name, model_name: models[name]?.[0] ?? "" });
    // Only the agent's own endpoint has a key.
    const base_url = (llm?.params as { base_url?: string } | undefined)?.base_url ?? "";
    onChange({ provider_name: CUSTOM, model_name: "", params: { base_url } });
  };
  const setParams = (changed: NonNullable<TestModel["params"]>) =>
    value && onChange({ ...value, params: { ...value.params, ...changed } });
  const known = models[value?.provider_name ?? ""] ?? [];
  return (
    <div className="grid items-start gap-3 sm:grid-cols-2">
      <SelectField
        label={label}
        error={errorAt(`${path}.provider_name`) ?? errorAt(path)}
        value={value?.provider_name ?? OWN}
        onChange={choose}
        options={[
          { value: OWN, label: "The agent's own" },
          ...Object.keys(models).map((name) => ({
            value: name,
            label: providerLabel(name),
            hint: keyHint(setups, name),
          })),
          { value: CUSTOM, label: providerLabel(CUSTOM) },
        ]}
      />
      {value && (
        <>
          {value.provider_name === CUSTOM ? (
            <TextField
              label="Model"
              error={errorAt(`${path}.model_name`)}
              value={value.model_name}
              onChange={({ target }) => onChange({ ...value, model_name: target.value })}
            />
          ) : (
            <SelectField
              label="Model"
              error={errorAt(`${path}.model_name`)}
              value={value.model_name}
              onChange={(model_name) => onChange({ ...value, model_name })}
              options={(known.includes(value.model_name) ? known : [value.model_name, ...known]).map((name) => ({
                value: name,
                label: name,
              }))}
            />
          )}
          {value.provider_name === CUSTOM && (
            <TextField
              label="Endpoint"
              hint="That of the agent's own model, whose key is used."
              error={errorAt(`${path}.params.base_url`)}
              type="url"
              value={value.params?.base_url ?? ""}
              onChange={({ target }) => setParams({ base_url: target.value })}
            />
          )}
          <NumberField
            label="Temperature"
            optional
            error={errorAt(`${path}.params.temperature`)}
            min={0}
            max={2}
            step={0.1}
            placeholder="0"
            value={value.params?.temperature ?? null}
            onChange={(temperature) => setParams({ temperature })}
          />
        </>
      )}
    </div>
  );
}
