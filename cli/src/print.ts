export type Value = string | number | boolean | null | readonly string[];
export type Fields = Readonly<Record<string, Value>>;

/** Prints a JSON document or the text for people. @throws OutputError */
export function print(json: boolean | undefined, document: unknown, text: string): Promise<void> {
  return write(process.stdout, `${json ? formatJson(document, 2) : text}\n`);
}

/** Prints fields, for people one per line. @throws OutputError */
export function printRecord(json: boolean | undefined, fields: Fields): Promise<void> {
  return print(json, fields, formatRecord(fields));
}

/** Output that could not be written, because the pipe is closed (EPIPE) or the disk is full. */
export class OutputError extends Error {
  override readonly name = "OutputError";
  readonly code: string | undefined;

  constructor(cause: NodeJS.ErrnoException) {
    super(cause.message, { cause });
    this.code = cause.code;
  }
}

/** Writes a whole text. @throws OutputError */
export function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (text === "") return Promise.resolve();
  const fail = (error: NodeJS.ErrnoException) => reject(new OutputError(error));
  // Bun reports a failure by callback and, later, by event, which would end the process if nobody listened.
  stream.once("error", fail);
  stream.write(text, (error) => {
    if (error) return fail(error);
    stream.off("error", fail);
    resolve();
  });
  return promise;
}

/** Formats as JSON with control characters escaped, which parses to the same value. */
export function formatJson(document: unknown, indent = 0): string {
  return JSON.stringify(document, null, indent).replace(LEFT_BY_JSON, escaped);
}

/** The line below a table: which page of how many it is. */
export function formatPage(page: { number: number; size: number }, total: number): string {
  return `page ${page.number} of ${pagesOf(page, total)}, ${total} in all`;
}

/** The number of pages of a list; 0 when it is empty. */
export function pagesOf({ size }: { size: number }, total: number): number {
  return Math.ceil(total / size);
}

/** One line per field, with aligned values. */
export function formatRecord(fields: Fields): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${show(value)}`)
    .join("\n");
}

/** A header line and one line per row, in aligned columns. */
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

/** Escapes control characters, so that texts of users and webhook receivers cannot control the terminal. */
export function visible(text: string): string {
  return text.replace(STEERING, escaped);
}

/** The same for a text of several lines. */
export function visibleLines(text: string): string {
  return text.split("\n").map(visible).join("\n");
}

/** Control characters, and those that change the direction of text. */
const STEERING = /[\p{Cc}\p{Bidi_Control}]/gu;
const LEFT_BY_JSON = /[\x7f-\x9f\p{Bidi_Control}]/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
