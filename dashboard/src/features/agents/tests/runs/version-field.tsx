import { Field } from "../../../../ui/form/field.tsx";
import { NumberInput } from "../../../../ui/form/number-input.tsx";
import { Select } from "../../../../ui/form/select.tsx";
import type { ChosenVersion } from "./chosen-version.ts";

const CHOICES = [
  { value: "latest", label: "The latest" },
  { value: "published", label: "The published one" },
  { value: "number", label: "Another one…" },
];

/** Asks for a version of the agent. */
export function VersionField({
  value,
  onChange,
  error,
}: {
  value: ChosenVersion;
  onChange: (value: ChosenVersion) => void;
  error: string | undefined;
}) {
  const isNumber = value.which === "number";
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <Field label="Version" error={isNumber ? undefined : error}>
        {(control) => (
          <Select
            {...control}
            value={value.which}
            onChange={(which) => onChange({ ...value, which: which as ChosenVersion["which"] })}
            options={CHOICES}
          />
        )}
      </Field>
      {isNumber && (
        <Field label="Number of the version" error={error}>
          {(control) => (
            <NumberInput
              {...control}
              required
              min={1}
              step={1}
              value={value.number}
              onChange={(number) => onChange({ ...value, number })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
