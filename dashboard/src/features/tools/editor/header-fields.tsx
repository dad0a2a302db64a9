import { SelectField, TextField } from "../../../ui/form/fields.tsx";
import { Rows } from "../../../ui/form/rows.tsx";
import { SecretField } from "../../secrets/secret-field.tsx";
import type { HeaderRow } from "./form.ts";

const VALUES = [
  { value: "text", label: "Text" },
  { value: "secret", label: "Secret" },
];

/** Headers of the request, each a text or a secret. */
export function HeaderFields({
  rows,
  onChange,
  errorIn,
}: {
  rows: readonly HeaderRow[];
  onChange: (rows: readonly HeaderRow[]) => void;
  errorIn: (path: string) => string | undefined;
}) {
  return (
    <Rows
      label="Headers"
      item="header"
      rows={rows}
      onChange={onChange}
      blank={(): HeaderRow => ({ name: "", value: "" })}
      columns="sm:grid-cols-[minmax(0,1fr)_8rem_minmax(0,1.5fr)_2rem]"
    >
      {({ name, value }, change, at) => (
        <>
          {/* The API tells a fault at the header's name, the form at its place. */}
          <TextField
            label="Header"
            error={errorIn(`headers.${at}`) ?? errorIn(`headers.${name.trim()}`)}
            maxLength={200}
            placeholder="Accept"
            value={name}
            onChange={(event) => change({ name: event.target.value })}
          />
          <SelectField
            label="Kind"
            value={typeof value === "string" ? "text" : "secret"}
            onChange={(kind) => change({ value: kind === "text" ? "" : { secret: "" } })}
            options={VALUES}
          />
          {typeof value === "string" ? (
            <TextField
              label="Value"
              maxLength={2_000}
              placeholder="Text, with {{variables}}"
              value={value}
              onChange={(event) => change({ value: event.target.value })}
            />
          ) : (
            <SecretField label="Value" value={value.secret} onChange={(secret) => change({ value: { secret } })} />
          )}
        </>
      )}
    </Rows>
  );
}
