type Value = string | number | boolean | null | readonly string[];
export type Fields = Readonly<Record<string, Value>>;

/** Prints one JSON document, or the same as a person likes to read it. @throws OutputError */
export function print(json: boolean | undefined, document: unknown, text: string): Promise<void> {
  return write(process.stdout, `${json ? formatJson(document, 2) : text}\n`);
}

/** Output that could not be written: the pipe is closed (EPIPE), the disk is full. */
export class OutputError extends Error {
  override readonly name = "OutputError";
  readonly code: string | undefined;

  constructor(cause: NodeJS.ErrnoException) {
    super(cause.message, { cause });
    this.code = cause.code;
  }
}

/** Writes a text to its end. @throws OutputError */
export function write(stream: NodeJS.WriteStream, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  if (text === "") return Promise.resolve();
  const fail = (error: NodeJS.ErrnoException) => reject(new OutputError(error));
  // Bun tells of a closed pipe by the event, of a full disk by the callback.
  stream.once("error", fail);
  stream.write(text, (error) => (error ? fail(error) : resolve()));
  return promise;
}

/** As JSON, which every reader takes for the same with its control characters escaped. */
export function formatJson(document: unknown, indent = 0): string {
  return JSON.stringify(document, null, indent).replace(LEFT_BY_JSON, escaped);
}

/** Below a table: which page of how many it is. */
export function formatPage(page: { number: number; size: number }, total: number): string {
  return `page ${page.number} of ${pagesOf(page, total)}, ${total} in all`;
}

/** How many pages a list has, none when it is empty. */
export function pagesOf({ size }: { size: number }, total: number): number {
  return Math.ceil(total / size);
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
