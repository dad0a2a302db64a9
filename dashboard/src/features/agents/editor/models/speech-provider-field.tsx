import { SelectField } from "../../../../ui/form/fields.tsx";
import { providerLabel } from "../../provider-labels.ts";
import { keyHint, type ProviderSetup } from "./missing-key.tsx";

/** The option that leaves the choice to the server. */
export const DEFAULT = "default";

/** The speech provider: the server's default, one of the catalogue, or the owner's own server. */
export function SpeechProviderField({
  path,
  provider,
  models,
  custom,
  setups,
  onChange,
  errorAt,
}: {
  path: "stt" | "tts";
  /** `DEFAULT` for the server's. */
  provider: string;
  models: Record<string, string[]>;
  /** The provider name of the owner's own server. */
  custom: string;
  setups: readonly ProviderSetup[];
  onChange: (provider: string) => void;
  errorAt: (path: string) => string | undefined;
}) {
  return (
    <SelectField
      label="Provider"
      error={errorAt(`${path}.provider_name`) ?? errorAt(path)}
      value={provider}
      onChange={onChange}
      options={[
        { value: DEFAULT, label: "Server default" },
        ...[...Object.keys(models), custom].map((name) => ({
          value: name,
          label: providerLabel(name),
          hint: keyHint(setups, name),
        })),
      ]}
    />
  );
}
