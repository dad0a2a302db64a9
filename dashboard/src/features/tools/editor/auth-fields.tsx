import type { Schema } from "../../../api/client.ts";
import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { SecretField } from "../../secrets/secret-field.tsx";

type Auth = NonNullable<Schema["Tool"]["auth"]>;
type Kind = Auth["type"];

const KINDS = [
  { value: "none", label: "None" },
  { value: "bearer", label: "Bearer token" },
  { value: "basic", label: "User name and password" },
  { value: "header", label: "Key in a header" },
  { value: "oauth2_client_credentials", label: "OAuth 2.0 client credentials" },
] as const;

interface AuthText {
  name: string;
  label: string;
  placeholder?: string;
  isOptional?: true;
}

/** What each kind has beside its secret, and what the secret is called. */
const FIELDS: Readonly<Record<Kind, { secret: string; texts: readonly AuthText[] }>> = {
  bearer: { secret: "Token", texts: [] },
  basic: { secret: "Password", texts: [{ name: "username", label: "User name" }] },
  header: { secret: "Key", texts: [{ name: "name", label: "Header", placeholder: "X-Api-Key" }] },
  oauth2_client_credentials: {
    secret: "Client secret",
    texts: [
      { name: "token_url", label: "Token URL", placeholder: "https://login.shop.example/oauth/token" },
      { name: "client_id", label: "Client ID" },
      { name: "scope", label: "Scopes", placeholder: "orders:read", isOptional: true },
    ],
  },
};

/** How requests are authenticated, with a secret. */
export function AuthFields({
  auth,
  onChange,
  errorAt,
}: {
  auth: Auth | null;
  onChange: (auth: Auth | null) => void;
  errorAt: (path: string) => string | undefined;
}) {
  const values = (auth ?? {}) as Readonly<Record<string, string | null | undefined>>;
  const change = (name: string, value: string | undefined) => onChange({ ...auth, [name]: value } as Auth);
  const choose = (kind: string) => {
    if (kind === "none") return onChange(null);
    const texts = FIELDS[kind as Kind].texts.filter(({ isOptional }) => !isOptional).map(({ name }) => [name, ""]);
    onChange({ ...Object.fromEntries(texts), type: kind, secret: values.secret ?? "" } as Auth);
  };
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <SelectField
        label="Authentication"
        error={errorAt("auth")}
        value={auth?.type ?? "none"}
        onChange={choose}
        options={KINDS}
      />
      {auth &&
        FIELDS[auth.type].texts.map(({ name, label, placeholder, isOptional = false }) => (
          <TextField
            key={name}
            label={label}
            optional={isOptional}
            error={errorAt(`auth.${name}`)}
            placeholder={placeholder}
            value={values[name] ?? ""}
            onChange={({ target }) => change(name, target.value === "" && isOptional ? undefined : target.value)}
          />
        ))}
      {auth && (
        <SecretField
          label={FIELDS[auth.type].secret}
          value={auth.secret}
          onChange={(secret) => change("secret", secret)}
          error={errorAt("auth.secret")}
        />
      )}
    </div>
  );
}
