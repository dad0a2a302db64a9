import { X } from "lucide-react";
import { Button } from "../../../../ui/button.tsx";
import { Checkbox } from "../../../../ui/form/checkbox.tsx";
import { FieldError } from "../../../../ui/form/field.tsx";
import { SelectField, TextField } from "../../../../ui/form/fields.tsx";
import { SecretField } from "../../../secrets/secret-field.tsx";
import type { ParameterRow, Place, Source } from "../form.ts";
import { SchemaFields } from "./schema-fields.tsx";

const PLACES: readonly { value: Place; label: string }[] = [
  { value: "path", label: "Path" },
  { value: "query", label: "Query" },
  { value: "header", label: "Header" },
  { value: "body", label: "Body" },
];
const SOURCES: readonly { value: Source; label: string }[] = [
  { value: "schema", label: "The model" },
  { value: "variable", label: "A variable" },
  { value: "constant", label: "A fixed value" },
  { value: "secret", label: "A secret" },
];

/** A parameter: what it is called, where it goes, and where its value comes from. */
export function ParameterFields({
  at,
  row,
  isHttp,
  onChange,
  onRemove,
  errorAt,
  errorIn,
}: {
  at: number;
  row: ParameterRow;
  /** Client tools have no places for parameters, and no secrets. */
  isHttp: boolean;
  onChange: (changed: Partial<ParameterRow>) => void;
  onRemove: () => void;
  errorAt: (field: string) => string | undefined;
  errorIn: (field: string) => string | undefined;
}) {
  const sources = isHttp ? SOURCES : SOURCES.filter(({ value }) => value !== "secret");
  return (
    <fieldset className="relative flex min-w-0 flex-col gap-4 rounded-lg border border-line p-4">
      <legend className="sr-only">{`Parameter ${row.name || at + 1}`}</legend>
      <Button
        variant="ghost"
        size="icon"
        className="absolute! top-2 right-2"
        aria-label={`Remove parameter ${row.name || at + 1}`}
        onClick={onRemove}
      >
        <X aria-hidden />
      </Button>
      <div className="grid items-start gap-4 pr-8 sm:grid-cols-3">
        <TextField
          label="Parameter"
          error={errorAt("name")}
          maxLength={100}
          controlClass="font-mono text-[0.8125rem]"
          placeholder="order_id"
          value={row.name}
          onChange={(event) => onChange({ name: event.target.value })}
        />
        {isHttp && (
          <SelectField
            label="In"
            error={errorAt("in")}
            value={row.in ?? ""}
            onChange={(place) => onChange({ in: place as Place, ...(place === "path" && { required: true }) })}
            options={PLACES}
          />
        )}
        <SelectField
          label="Value from"
          error={errorAt("source")}
          value={row.source}
          onChange={(source) => onChange({ source: source as Source })}
          options={sources}
        />
      </div>
      <SourceFields row={row} onChange={onChange} errorAt={errorAt} errorIn={errorIn} />
      {row.in !== "path" && row.source !== "constant" && (
        <Checkbox
          checked={row.required}
          onChange={(required) => onChange({ required })}
          label="Required"
          hint={
            row.source === "variable" ? "Without a value, the tool is not called and the model is told." : undefined
          }
        />
      )}
      <FieldError>{errorAt("required")}</FieldError>
    </fieldset>
  );
}

function SourceFields({
  row,
  onChange,
  errorAt,
  errorIn,
}: {
  row: ParameterRow;
  onChange: (changed: Partial<ParameterRow>) => void;
  errorAt: (field: string) => string | undefined;
  errorIn: (field: string) => string | undefined;
}) {
  if (row.source === "schema")
    return (
      <>
        <SchemaFields text={row.schema} onChange={(schema) => onChange({ schema })} error={errorIn("schema")} />
        <TextField
          label="Allow only values of a list variable"
          optional
          hint="The model can give only what the list has, so a caller cannot talk it into anything else."
          error={errorAt("allowed_from")}
          maxLength={100}
          controlClass="font-mono text-[0.8125rem] sm:max-w-80"
          placeholder="customer_orders"
          value={row.allowed_from}
          onChange={(event) => onChange({ allowed_from: event.target.value })}
        />
      </>
    );
  if (row.source === "secret")
    return (
      <SecretField
        label="Secret"
        value={row.secret}
        onChange={(secret) => onChange({ secret })}
        error={errorIn("secret")}
      />
    );
  const isVariable = row.source === "variable";
  return (
    <TextField
      label={isVariable ? "Variable" : "Value"}
      hint={
        isVariable
          ? "A dynamic variable of the conversation, or one that begins with system_."
          : "JSON such as 5, true, or [1, 2]. Anything else is a text."
      }
      error={errorIn(row.source)}
      controlClass="font-mono text-[0.8125rem]"
      placeholder={isVariable ? "customer_id" : "5"}
      value={row[row.source === "variable" ? "variable" : "constant"]}
      onChange={({ target }) => onChange(isVariable ? { variable: target.value } : { constant: target.value })}
    />
  );
}
