import { Field } from "../../../../ui/form/field.tsx";
import { Input } from "../../../../ui/form/input.tsx";

export interface Endpoint {
  base_url?: string;
  api_key?: string;
}

/** The address of the owner's own server, which speaks OpenAI's protocol, and its key, which is masked once it is stored. */
export function EndpointFields({
  params,
  onChange,
  path,
  errorAt,
  keyRequired = false,
}: {
  params: Endpoint;
  onChange: (changed: Endpoint) => void;
  path: string;
  errorAt: (path: string) => string | undefined;
  keyRequired?: boolean;
}) {
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <Field
        label="Base URL"
        hint="Without the endpoint's path, for example https://llm.example.com/v1"
        error={errorAt(`${path}.base_url`)}
      >
        {(control) => (
          <Input
            {...control}
            type="url"
            inputMode="url"
            value={params.base_url ?? ""}
            onChange={(event) => onChange({ base_url: event.target.value })}
          />
        )}
      </Field>
      <Field label="API key" optional={!keyRequired} error={errorAt(`${path}.api_key`)}>
        {(control) => (
          <Input
            {...control}
            autoComplete="off"
            spellCheck={false}
            value={params.api_key ?? ""}
            onChange={(event) => onChange({ api_key: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}
