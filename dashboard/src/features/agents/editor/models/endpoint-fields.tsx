import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { SecretField } from "../../../secrets/secret-field.tsx";

export interface Endpoint {
  base_url?: string;
  api_key?: string | { secret: string } | undefined;
}

const KEYS = [
  { value: "text", label: "A key of this agent" },
  { value: "secret", label: "One of your secrets" },
];

/**
 * The address of the owner's own server, which speaks OpenAI's protocol, and its key: a text, which is masked once it is stored, or a
 * secret.
 */
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
  const key = params.api_key ?? "";
  const keyError = errorAt(`${path}.api_key`) ?? errorAt(`${path}.api_key.secret`);
  return (
    <div className="grid gap-5 sm:grid-cols-2">
      <TextField
        className="sm:col-span-2"
        label="Base URL"
        hint="Without the endpoint's path, for example https://llm.example.com/v1"
        error={errorAt(`${path}.base_url`)}
        type="url"
        inputMode="url"
        value={params.base_url ?? ""}
        onChange={(event) => onChange({ base_url: event.target.value })}
      />
      <SelectField
        label="Kind of key"
        value={typeof key === "string" ? "text" : "secret"}
        onChange={(kind) => onChange({ api_key: kind === "text" ? undefined : { secret: "" } })}
        options={KEYS}
      />
      {typeof key === "string" ? (
        <TextField
          label="API key"
          optional={!keyRequired}
          error={keyError}
          autoComplete="off"
          spellCheck={false}
          value={key}
          onChange={(event) => onChange({ api_key: event.target.value || undefined })}
        />
      ) : (
        <SecretField
          label="API key"
          value={key.secret}
          onChange={(secret) => onChange({ api_key: { secret } })}
          error={keyError}
        />
      )}
    </div>
  );
}
