import { Field } from "../../../ui/form/field.tsx";
import { Input, Textarea } from "../../../ui/form/input.tsx";
import { Select } from "../../../ui/form/select.tsx";
import { simpleSchemaOf } from "../editor/parameters/simple-schema.ts";
import type { Argument } from "./given.ts";

/** A field for each argument. @param values as they are typed, by the arguments' names */
export function ArgumentFields({
  of,
  values,
  onChange,
}: {
  of: readonly Argument[];
  values: Readonly<Record<string, string>>;
  onChange: (values: Record<string, string>) => void;
}) {
  return of.map(({ name, schema, isRequired }) => {
    const simple = simpleSchemaOf(schema);
    const value = values[name] ?? "";
    const set = (next: string) => onChange({ ...values, [name]: next });
    const choices = simple?.kind === "boolean" ? ["true", "false"] : simple?.kind === "string" ? simple.choices : [];
    const isJson = !simple || simple.kind === "array";
    return (
      <Field
        key={name}
        label={<code className="font-mono text-[0.8125rem]">{name}</code>}
        hint={typeof schema.description === "string" ? schema.description : undefined}
        optional={!isRequired}
      >
        {(control) =>
          choices.length > 0 ? (
            <Select
              {...control}
              value={value || NONE}
              onChange={(chosen) => set(chosen === NONE ? "" : chosen)}
              options={[
                { value: NONE, label: "Left out" },
                ...choices.map((choice) => ({ value: choice, label: choice })),
              ]}
            />
          ) : isJson ? (
            <Textarea
              {...control}
              rows={2}
              spellCheck={false}
              className="field-sizing-content font-mono text-xs"
              placeholder={simple ? '["a", "b"]' : "JSON"}
              value={value}
              onChange={(event) => set(event.target.value)}
            />
          ) : (
            <Input {...control} value={value} onChange={(event) => set(event.target.value)} />
          )
        }
      </Field>
    );
  });
}

const NONE = "left out";
