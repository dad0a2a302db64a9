import { useState } from "react";
import { Field } from "../../../../ui/form/field.tsx";
import { Input, Textarea } from "../../../../ui/form/input.tsx";
import { Select } from "../../../../ui/form/select.tsx";
import { Segments } from "../../../../ui/segments.tsx";
import { objectIn } from "../json-text.ts";
import { KINDS, type Kind, type SimpleSchema, schemaOfSimple, simpleSchemaOf } from "./simple-schema.ts";

const WAYS = [
  { value: "form", label: "Form" },
  { value: "json", label: "JSON" },
] as const;
const ITEMS = KINDS.filter(({ value }) => value !== "array");

/** What the model may give: a small form, or JSON Schema. @param text JSON */
export function SchemaFields({
  text,
  onChange,
  error,
}: {
  text: string;
  onChange: (text: string) => void;
  error: string | undefined;
}) {
  const schema = objectIn(text);
  const simple = schema && simpleSchemaOf(schema);
  const [wanted, setWanted] = useState<"form" | "json">("form");
  const way = simple ? wanted : "json";
  return (
    <div className="flex flex-col gap-3">
      {simple && <Segments label="How to describe the value" options={WAYS} value={way} onChange={setWanted} />}
      {simple && way === "form" ? (
        <SimpleFields
          simple={simple}
          onChange={(next) => onChange(JSON.stringify(schemaOfSimple(next), null, 2))}
          error={error}
        />
      ) : (
        <Field label="JSON Schema" hint="What the model may give, and how it is described to it." error={error}>
          {(control) => (
            <Textarea
              {...control}
              spellCheck={false}
              className="field-sizing-content max-h-96 min-h-24 font-mono text-xs"
              value={text}
              // The form would not show all of what is typed next.
              onFocus={() => setWanted("json")}
              onChange={(event) => onChange(event.target.value)}
            />
          )}
        </Field>
      )}
    </div>
  );
}

function SimpleFields({
  simple,
  onChange,
  error,
}: {
  simple: SimpleSchema;
  onChange: (simple: SimpleSchema) => void;
  error: string | undefined;
}) {
  const [choices, setChoices] = useState(simple.choices.join(", "));
  const hasChoices = simple.kind === "string" || (simple.kind === "array" && simple.items === "string");
  return (
    <div className="grid items-start gap-4 sm:grid-cols-2">
      <Field label="Type" error={error}>
        {(control) => (
          <Select
            {...control}
            value={simple.kind}
            onChange={(kind) => onChange({ ...simple, kind: kind as Kind })}
            options={KINDS}
          />
        )}
      </Field>
      {simple.kind === "array" && (
        <Field label="Items">
          {(control) => (
            <Select
              {...control}
              value={simple.items}
              onChange={(items) => onChange({ ...simple, items: items as SimpleSchema["items"] })}
              options={ITEMS}
            />
          )}
        </Field>
      )}
      {hasChoices && (
        <Field label="Allowed values" optional>
          {(control) => (
            <Input
              {...control}
              placeholder="Any, or a list: small, large"
              value={choices}
              onChange={({ target }) => {
                setChoices(target.value);
                onChange({ ...simple, choices: listIn(target.value) });
              }}
            />
          )}
        </Field>
      )}
      <Field label="Description" optional className="sm:col-span-2">
        {(control) => (
          <Input
            {...control}
            placeholder="Number of the order, such as A-1001."
            value={simple.description}
            onChange={(event) => onChange({ ...simple, description: event.target.value })}
          />
        )}
      </Field>
    </div>
  );
}

function listIn(text: string): string[] {
  const values = text.split(",").map((value) => value.trim());
  return [...new Set(values.filter((value) => value !== ""))];
}
