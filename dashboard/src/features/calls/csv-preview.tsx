import type { Schema } from "../../api/client.ts";
import { Problem, sentenceOf } from "../../api/problem.ts";
import { numberOf } from "../../ui/numbers.ts";
import { Notice } from "../../ui/states.tsx";
import { type Column, Table } from "../../ui/table.tsx";

type Checked = Schema["CheckedCallBatch"];
type CheckedCall = Checked["calls"][number];

/** The number of columns that fit beside the phone number. */
const VARIABLES_SHOWN = 3;

/** How many numbers a file has, and its first rows as calls would have them. */
export function CsvPreview({ checked: { total, calls } }: { checked: Checked }) {
  const variables = Object.keys(calls[0]?.dynamic_variables ?? {});
  const hidden = variables.length - VARIABLES_SHOWN;
  const columns: readonly Column<CheckedCall>[] = [
    { name: "Number", className: "font-medium tabular-nums whitespace-nowrap", cell: (call) => call.to_mobile_number },
    ...variables.slice(0, VARIABLES_SHOWN).map((name) => ({
      name,
      label: <code className="font-mono">{name}</code>,
      className: "max-w-32 truncate text-muted",
      cell: ({ dynamic_variables }: CheckedCall) => dynamic_variables[name],
    })),
  ];
  return (
    <div className="flex flex-col gap-2">
      <p className="text-muted">
        {numberOf(total)} {total === 1 ? "number" : "numbers"}
        {total > calls.length && `, starting with these ${calls.length}`}
        {hidden > 0 && `, and ${hidden} more ${hidden === 1 ? "variable" : "variables"}`}
      </p>
      <Table label="First rows of the file" columns={columns} rows={calls} rowKey={({ line }) => String(line)} />
    </div>
  );
}

/** What was wrong, row by row. */
export function CsvRefusal({ error }: { error: Error }) {
  const rows = error instanceof Problem ? error.violations : [];
  if (rows.length === 0) return <Notice tone="danger">{sentenceOf(error)}</Notice>;
  return (
    <Notice tone="danger">
      <p className="font-medium">No calls were made. Correct the file, then choose it again.</p>
      <ul className="mt-1 max-h-48 list-disc overflow-y-auto pl-5">
        {rows.map((row) => (
          <li key={row}>{row}</li>
        ))}
      </ul>
    </Notice>
  );
}
