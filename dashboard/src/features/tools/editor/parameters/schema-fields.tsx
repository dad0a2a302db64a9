import { useState } from "react";
import { SelectField, TextareaField, TextField } from "../../../../ui/form/fields.tsx";
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
        <TextareaField
          label="JSON Schema"
          hint="What the model may give, and how it is described to it."
          error={error}
          spellCheck={false}
          controlClass="field-sizing-content max-h-96 min-h-24 font-mono text-xs"
          value={text}
          // The form would not show all of what is typed next.

          onFocus={() => setWanted("json")}
          onChange={(event) => onChange(event.target.value)}
        />
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
      <SelectField
        label="Type"
        error={error}
        value={simple.kind}
        onChange={(kind) => onChange({ ...simple, kind: kind as Kind })}
        options={KINDS}
      />
      {simple.kind === "array" && (
        <SelectField
          label="Items"
          value={simple.items}
          onChange={(items) => onChange({ ...simple, items: items as SimpleSchema["items"] })}
          options={ITEMS}
        />
      )}
      {hasChoices && (
        <TextField
          label="Allowed values"
          optional
          placeholder="Any, or a list: small, large"
          value={choices}
          onChange={({ target }) => {
            setChoices(target.value);
            onChange({ ...simple, choices: listIn(target.value) });
          }}
        />
      )}
      <TextField
        label="Description"
        optional
        className="sm:col-span-2"
        placeholder="Number of the order, such as A-1001."
        value={simple.description}
        onChange={(event) => onChange({ ...simple, description: event.target.value })}
      />
    </div>
  );
}

function listIn(text: string): string[] {
  const values = text.split(",").map((value) => value.trim());
  return [...new Set(values.filter((value) => value !== ""))];
}
