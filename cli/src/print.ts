type Value = string | number | boolean | null | readonly string[];
export type Fields = Readonly<Record<string, Value>>;

/** One JSON document, or what a person likes to read. */
export function print(json: boolean | undefined, document: unknown, text: string): void {
  console.log(json ? formatJson(document, 2) : text);
}

/** As JSON, which every reader takes for the same with its control characters escaped. */
export function formatJson(document: unknown, indent = 0): string {
  return JSON.stringify(document, null, indent).replace(LEFT_BY_JSON, escaped);
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
  return visible(Array.isArray(value) ? value.join(",") : String(value));
}

/** What users wrote, and receivers of webhooks answered, must not steer the terminal of whoever reads it. */
export function visible(text: string): string {
  return text.replace(STEERING, escaped);
}

/** Control characters, and those that turn the direction of a line. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;
const LEFT_BY_JSON = /[\x7f-\x9f\p{Bidi_Control}]/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
