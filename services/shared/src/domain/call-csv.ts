import { pipeline } from "node:stream/promises";
import { CsvError, type Info, type Parser, parse } from "csv-parse";
import { parse as parseNow } from "csv-parse/sync";
import { ServiceError, type Violation } from "../errors.ts";
import { firstViolations } from "./violations.ts";

export interface CsvCall {
  /** As it is written, without spaces and invisible marks around it; whoever calls it checks it. */
  toMobileNumber: string;
  dynamicVariables: Record<string, string>;
  /** The line of the file that the row ends on, from 1. */
  line: number;
}

const NUMBER = "to_mobile_number";
/** Marks that are copied with a number, such as those that set the direction of writing. */
const INVISIBLE = /\p{Cf}/gu;
const COLUMNS_MAX = 100;
const ROWS_MAX = 10_000;
const RECORD_BYTES_MAX = 64 * 1024;
/** The parser counts no separators, and reads a record of four million of them for seconds. A quote is written as two. */
const WRITTEN_BYTES_MAX = 2 * RECORD_BYTES_MAX;
/** Read in a turn of the event loop: of rows in less than a millisecond. */
const PIECE_BYTES = 8 * 1024;

/** Excel writes semicolons where numbers have a decimal comma. */
const SEPARATORS = [",", ";", "\t"];
/** A first line with which Excel names the separator. */
const SEPARATOR_LINE = /^\ufeff?sep=.(?=[\r\n])/i;
/** Files that several programs have written mix them. */
const LINE_ENDS = /\r\n?/g;

/**
 * Reads the calls of a batch from CSV (RFC 4180). The first row names the columns: `to_mobile_number`, and a dynamic variable for each
 * other. Columns may also be separated by semicolons or tabs. Lines may end in any way. Blank rows are skipped, and so are blank
 * columns without a name.
 * @param field names the text in errors
 * @param nextTurn settles in a later turn of the event loop: a long text is read piece by piece; what it throws ends the reading
 * @throws ServiceError invalid, naming the lines that are wrong
 */
export async function readCallCsv(text: string, field: string, nextTurn: () => Promise<void>): Promise<CsvCall[]> {
  const { names, rows } = await rowsOf(text, field, nextTurn);
  const faults: Violation[] = [];
  const calls = rows.map(({ record, info: { lines: line } }) => {
    const fault = faultOf(record, names);
    if (fault) faults.push({ path: field, message: `${field} line ${line}: ${fault}` });
    const { [NUMBER]: number = "", ...dynamicVariables } = Object.fromEntries(
      names.flatMap((name, at) => (name === "" ? [] : [[name, record[at] ?? ""]])),
    );
    return { toMobileNumber: number.replaceAll(INVISIBLE, "").trim(), dynamicVariables, line };
  });
  const [first] = faults;
  if (first) throw new ServiceError("invalid", first.message, { violations: firstViolations(faults, field, "rows") });
  if (calls.length === 0) throw refusal(field, "must have at least one row below the names of its columns");
  return calls;
}

/** What is wrong with the cells of a row; null for nothing. */
function faultOf(cells: readonly string[], names: readonly string[]): string | null {
  const named = names.findLastIndex((name) => name !== "") + 1;
  if (cells.length < named) return `has ${cells.length} columns, and the first row names ${named}`;
  return cells.some((cell, at) => cell !== "" && !names[at]) ? "has a value in a column without a name" : null;
}

interface Row {
  record: string[];
  info: Info;
}

async function rowsOf(
  given: string,
  field: string,
  nextTurn: () => Promise<void>,
): Promise<{ names: string[]; rows: Row[] }> {
  const text = given.replace(SEPARATOR_LINE, "");
  const delimiter = separatorOf(text);
  // Before all of a wrong file is read; a first row that is too long for this comes from the parser.
  const first = firstRowOf(text, delimiter);
  if (first.length > 0) checkColumns(first, field);
  let names: string[] | null = null;
  const rows: Row[] = [];
  const parser = parse({ ...READ, delimiter, info: true });
  try {
    await pipeline(piecesOf(text, field, parser, nextTurn), parser, async (parsed: AsyncIterable<Row>) => {
      for await (const row of parsed) {
        if (row.record.every((cell) => cell === "")) continue;
        if (!names) {
          names = checkColumns(row.record, field);
          continue;
        }
        if (rows.length === ROWS_MAX) throw refusal(field, `must have at most ${ROWS_MAX} rows`);
        rows.push(row);
      }
    });
    return { names: names ?? [], rows };
  } catch (error) {
    if (error instanceof CsvError) throw refusal(field, `is not valid CSV: ${error.message}`);
    throw error;
  }
}

async function* piecesOf(
  text: string,
  field: string,
  { info }: Parser,
  nextTurn: () => Promise<void>,
): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  let read = 0;
  let writtenBytes = 0;
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    // The parser knows which ends of lines are in quotes.
    const readNow = info.records + info.empty_lines;
    writtenBytes = readNow === read ? writtenBytes + PIECE_BYTES : PIECE_BYTES;
    read = readNow;
    if (writtenBytes > WRITTEN_BYTES_MAX)
      throw refusal(field, `must not have rows of more than ${WRITTEN_BYTES_MAX} bytes`);
    await nextTurn();
    // As Latin-1, whatever the characters are: ends of lines are bytes of their own, and a cut may be within a character.
    const piece = bytes.toString("latin1", at, at + PIECE_BYTES);
    const isWithinEnd = piece.startsWith("\n") && bytes[at - 1] === CARRIAGE_RETURN;
    yield Buffer.from((isWithinEnd ? piece.slice(1) : piece).replace(LINE_ENDS, "\n"), "latin1");
  }
}

const CARRIAGE_RETURN = 13;
const READ = {
  bom: true,
  trim: true,
  skip_empty_lines: true,
  relax_column_count: true,
  // The parser counts two lines for a CRLF in quotes, and takes the first end of a line for all.
  record_delimiter: "\n",
  max_record_size: RECORD_BYTES_MAX,
};

/** Enough for the names of 100 columns. */
const FIRST_ROW_LENGTH = 16 * 1024;

/** The separator with which the first row has the column of phone numbers; a comma if none does. */
function separatorOf(text: string): string {
  return SEPARATORS.find((delimiter) => firstRowOf(text, delimiter).includes(NUMBER)) ?? ",";
}

/** The first row, or the first that is not blank if there is one. */
function firstRowOf(text: string, delimiter: string): string[] {
  const start = text.slice(0, FIRST_ROW_LENGTH).replace(LINE_ENDS, "\n");
  const first = (skip_records_with_empty_values: boolean) =>
    (parseNow(start, { ...READ, skip_records_with_empty_values, delimiter, to: 1 }) as string[][])[0];
  try {
    return first(true) ?? first(false) ?? [];
  } catch {
    return [];
  }
}

/** @returns the names */
function checkColumns(names: string[], field: string): string[] {
  if (!names.includes(NUMBER)) throw refusal(field, `must have a column ${NUMBER} in its first row`);
  const named = names.filter((name) => name !== "");
  if (names.length > COLUMNS_MAX || new Set(named).size < named.length || named.includes("__proto__"))
    throw refusal(field, `must have at most ${COLUMNS_MAX} columns, each with a name of its own`);
  return names;
}

function refusal(field: string, must: string): ServiceError {
  const message = `${field} ${must}`;
  return new ServiceError("invalid", message, { violations: [{ path: field, message }] });
}
