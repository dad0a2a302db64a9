import { Field } from "../../../ui/form/field.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { providerLabel } from "../provider-labels.ts";

/** Stands for leaving the choice to someone else. */
export const DEFAULT = "default";

/** Whose speech it is: the server's default, one of the catalogue's, or a server of one's own. */
export function SpeechProviderField({
  path,
  provider,
  models,
  custom,
  onChange,
  errorAt,
}: {
  path: "stt" | "tts";
  /** `DEFAULT` for the server's. */
  provider: string;
  models: Record<string, string[]>;
  /** The provider that stands for a server of one's own. */
  custom: string;
  onChange: (provider: string) => void;
  errorAt: (path: string) => string | undefined;
}) {
  return (
    <Field label="Provider" error={errorAt(`${path}.provider_name`) ?? errorAt(path)}>
      {(control) => (
        <Select
          {...control}
          value={provider}
          onChange={onChange}
          options={[
            { value: DEFAULT, label: "Server default" },
            ...[...Object.keys(models), custom].map((name) => ({ value: name, label: providerLabel(name) })),
          ]}
        />
      )}
    </Field>
  );
}
