import { Badge } from "../../ui/badge.tsx";
import { TextField } from "../../ui/form/fields.tsx";
import type { Variable } from "../prompts/variables.ts";

type Values = Readonly<Record<string, string>>;

/** A field for each variable of an agent, with its default as the placeholder, or marked as the editor marks one that needs a value. */
export function VariableFields({
  variables,
  values,
  onChange,
}: {
  variables: readonly Variable[];
  values: Values;
  onChange: (values: Values) => void;
}) {
  return variables.map(({ name, defaultValue, description }) => (
    <TextField
      key={name}
      label={
        <>
          <code className="font-mono text-[0.8125rem]">{name}</code>
          {defaultValue === null && <Badge tone="warning">needs a value</Badge>}
        </>
      }
      hint={description || undefined}
      optional={defaultValue !== null}
      placeholder={defaultValue ?? ""}
      value={values[name] ?? ""}
      onChange={(event) => onChange({ ...values, [name]: event.target.value })}
    />
  ));
}
