import { pipeline } from "node:stream/promises";
import { CsvError, type Info, type Parser, parse } from "csv-parse";
import { parse as parseNow } from "csv-parse/sync";
import { ServiceError, type Violation } from "../errors.ts";

export interface CsvCall {
  toMobileNumber: string;
  dynamicVariables: Record<string, string>;
  /** The line in the file, from 1. */
  line: number;
}

const NUMBER = "to_mobile_number";
const E164 = /^\+[1-9]\d{6,14}$/;
/** Marks that are copied with a number, such as those that set the direction of writing. */
const INVISIBLE = /\p{Cf}/gu;
const COLUMNS_MAX = 100;
const ROWS_MAX = 10_000;
const FAULTS_TOLD = 20;
const RECORD_BYTES_MAX = 64 * 1024;
/** The parser counts no separators, and reads a record of four million of them for seconds. A quote is written as two. */
const WRITTEN_BYTES_MAX = 2 * RECORD_BYTES_MAX;
/** Read in a turn of the event loop: of rows in less than a millisecond, of nothing but carriage returns in some sixteen. */
const PIECE_BYTES = 8 * 1024;

/** Excel writes semicolons where numbers have a decimal comma. */
const SEPARATORS = [",", ";", "\t"];
/** A first line with which Excel names the separator. */
const SEPARATOR_LINE = /^\ufeff?sep=.(?=\r?\n)/i;

/**
 * Reads the calls of a batch from CSV (RFC 4180). The first row names the columns: `to_mobile_number`, and a dynamic variable for each
 * other. Columns may also be separated by semicolons or tabs. Empty lines are skipped.
 * @param field names the text in errors
 * @param nextTurn settles in a later turn of the event loop: a long text is read piece by piece; what it throws ends the reading
 * @throws ServiceError invalid, naming the lines that are wrong
 */
export async function readCallCsv(text: string, field: string, nextTurn: () => Promise<void>): Promise<CsvCall[]> {
  const rows = await rowsOf(text, field, nextTurn);
  const violations: Violation[] = [];
  const calls = rows.map(({ record: { [NUMBER]: given = "", ...dynamicVariables }, info: { lines: line } }) => {
    const toMobileNumber = given.replaceAll(INVISIBLE, "").trim();
    if (!E164.test(toMobileNumber) && violations.length < FAULTS_TOLD) {
      const message = `${field} line ${line}: ${NUMBER} must be a phone number in E.164 form, such as +14155550123`;
      violations.push({ path: field, message });
    }
    return { toMobileNumber, dynamicVariables, line };
  });
  const [first] = violations;
  if (first) throw new ServiceError("invalid", first.message, { violations });
  if (calls.length === 0) throw refusal(field, "must have at least one row below the names of its columns");
  return calls;
}

interface Row {
  record: Record<string, string>;
  info: Info;
}

async function rowsOf(given: string, field: string, nextTurn: () => Promise<void>): Promise<Row[]> {
  const text = given.replace(SEPARATOR_LINE, "");
  const delimiter = separatorOf(text);
  const names = firstRowOf(text, delimiter);
  if (names.length > 0) checkColumns(names, field);
  const rows: Row[] = [];
  const parser = parse({ ...READ, delimiter, info: true, columns: (given: string[]) => checkColumns(given, field) });
  try {
    await pipeline(piecesOf(text, field, parser, nextTurn), parser, async (parsed: AsyncIterable<Row>) => {
      for await (const row of parsed) {
        if (rows.length === ROWS_MAX) throw refusal(field, `must have at most ${ROWS_MAX} rows`);
        rows.push(row);
      }
    });
    return rows;
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
    yield bytes.subarray(at, at + PIECE_BYTES);
  }
}

const READ = { bom: true, trim: true, skip_empty_lines: true, max_record_size: RECORD_BYTES_MAX };

/** Enough for the names of 100 columns. */
const FIRST_ROW_LENGTH = 16 * 1024;

/** The separator with which the first row has the column of phone numbers; a comma if none does. */
function separatorOf(text: string): string {
  return SEPARATORS.find((delimiter) => firstRowOf(text, delimiter).includes(NUMBER)) ?? ",";
}

function firstRowOf(text: string, delimiter: string): string[] {
  try {
    return (parseNow(text.slice(0, FIRST_ROW_LENGTH), { ...READ, delimiter, to: 1 }) as string[][])[0] ?? [];
  } catch {
    return [];
  }
}

/** @returns the names */
function checkColumns(names: string[], field: string): string[] {
  if (!names.includes(NUMBER)) throw refusal(field, `must have a column ${NUMBER} in its first row`);
  if (names.length > COLUMNS_MAX || new Set(names).size < names.length || names.includes("__proto__"))
    throw refusal(field, `must have at most ${COLUMNS_MAX} columns, each with a name of its own`);
  return names;
}

function refusal(field: string, must: string): ServiceError {
  const message = `${field} ${must}`;
  return new ServiceError("invalid", message, { violations: [{ path: field, message }] });
}
