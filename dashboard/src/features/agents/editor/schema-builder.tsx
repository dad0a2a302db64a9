import { Plus, X } from "lucide-react";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { Checkbox } from "../../../ui/form/checkbox.tsx";
import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { KINDS, type Kind, notationOf, readNotation } from "./notation.ts";

type Schema = Record<string, { type: string }>;

/** Fields by name with a type; types that are not offered are written in the API's notation. */
export function SchemaBuilder({
  value,
  onChange,
  errorAt,
}: {
  value: Schema;
  onChange: (value: Schema) => void;
  errorAt: (path: string) => string | undefined;
}) {
  const [name, setName] = useState("");
  const fields = Object.entries(value);
  const isTaken = Object.hasOwn(value, name.trim());
  const add = () => {
    if (name.trim() === "" || isTaken) return;
    onChange({ ...value, [name.trim()]: { type: "str" } });
    setName("");
  };
  return (
    <div className="flex flex-col gap-3">
      {fields.map(([field, { type }]) => (
        <SchemaField
          key={field}
          name={field}
          type={type}
          onChange={(next) => onChange({ ...value, [field]: { type: next } })}
          onRemove={() => onChange(Object.fromEntries(fields.filter(([each]) => each !== field)))}
          error={errorAt(`call_analysis_schema.${field}.type`) ?? errorAt(`call_analysis_schema.${field}`)}
        />
      ))}
      <form
        className="flex flex-wrap items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          add();
        }}
      >
        <TextField
          label="New field"
          error={isTaken ? "A field with this name already exists." : undefined}
          controlClass="sm:w-64"
          placeholder="wants_callback"
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <Button type="submit" disabled={name.trim() === "" || isTaken}>
          <Plus aria-hidden /> Add field
        </Button>
      </form>
    </div>
  );
}

function SchemaField({
  name,
  type,
  onChange,
  onRemove,
  error,
}: {
  name: string;
  type: string;
  onChange: (type: string) => void;
  onRemove: () => void;
  error: string | undefined;
}) {
  const read = readNotation(type);
  const hasDetail = read.kind === "choice" || read.kind === "other";
  return (
    <div className="flex flex-wrap items-center gap-3 rounded-lg border border-line px-3 py-2">
      <code className="w-full min-w-0 truncate font-mono text-[0.8125rem] font-medium sm:w-44">{name}</code>
      <SelectField
        label={<span className="sr-only">Type</span>}
        error={hasDetail ? undefined : error}
        className="w-40 gap-0!"
        value={read.kind}
        onChange={(kind) => onChange(notationOf({ ...read, kind: kind as Kind }))}
        options={KINDS}
      />
      {hasDetail && (
        <TextField
          label={
            <span className="sr-only">{read.kind === "choice" ? "Choices, separated by commas" : "Notation"}</span>
          }
          error={error}
          className="min-w-48 flex-1 gap-0!"
          placeholder={read.kind === "choice" ? "yes, no, unclear" : 'Literal["a", "b"]'}
          value={read.detail}
          onChange={(event) => onChange(notationOf({ ...read, detail: event.target.value }))}
        />
      )}
      {read.kind !== "other" && (
        <div>
          <Checkbox
            checked={read.isOptional}
            onChange={(isOptional) => onChange(notationOf({ ...read, isOptional }))}
            label="Optional"
          />
        </div>
      )}
      <Button variant="ghost" size="icon" aria-label={`Remove ${name}`} className="ml-auto" onClick={onRemove}>
        <X aria-hidden />
      </Button>
    </div>
  );
}
