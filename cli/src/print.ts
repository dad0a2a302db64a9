type Value = string | number | boolean | null | readonly string[];
export type Fields = Readonly<Record<string, Value>>;

/** One JSON document, or what a person likes to read. */
export function print(json: boolean | undefined, document: unknown, text: string): void {
  console.log(json ? JSON.stringify(document, null, 2) : text);
}

/** A line for each field, values aligned. */
export function formatRecord(fields: Fields): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${show(value)}`)
    .join("\n");
}

/** A line for each row below the names of the columns, all aligned. */
export function formatTable(columns: readonly string[], rows: readonly Fields[]): string {
  const lines = [columns, ...rows.map((row) => columns.map((column) => show(row[column] ?? null)))];
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => Bun.stringWidth(line[at] ?? ""))));
  const pad = (text: string, at: number) => text + " ".repeat((widths[at] ?? 0) - Bun.stringWidth(text));
  return lines.map((line) => line.map(pad).join("  ").trimEnd()).join("\n");
}

function show(value: Value): string {
  if (value === null) return "-";
  return Array.isArray(value) ? value.join(",") : String(value);
}
