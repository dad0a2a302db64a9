import { type CsvError, type Info, parse } from "csv-parse/sync";
import { ServiceError, type Violation } from "../errors.ts";

export interface CsvCall {
  toMobileNumber: string;
  dynamicVariables: Record<string, string>;
  /** The line in the file, from 1. */
  line: number;
}

const NUMBER = "to_mobile_number";
const E164 = /^\+[1-9]\d{6,14}$/;
const COLUMNS_MAX = 100;
const ROWS_MAX = 10_000;
const FAULTS_TOLD = 20;
const RECORD_BYTES_MAX = 64 * 1024;

/** Excel writes semicolons where numbers have a decimal comma. */
const SEPARATORS = [",", ";", "\t"];
/** A first line with which Excel names the separator. */
const SEPARATOR_LINE = /^\ufeff?sep=.(?=\r?\n)/i;

/**
 * Reads the calls of a batch from CSV (RFC 4180). The first row names the columns: `to_mobile_number`, and a dynamic variable for each
 * other. Columns may also be separated by semicolons or tabs. Empty lines are skipped.
 * @param field names the text in errors
 * @throws ServiceError invalid, naming the lines that are wrong
 */
export function readCallCsv(text: string, field: string): CsvCall[] {
  const rows = rowsOf(text, field);
  const violations: Violation[] = [];
  const calls = rows.map(
    ({ record: { [NUMBER]: toMobileNumber = "", ...dynamicVariables }, info: { lines: line } }) => {
      if (!E164.test(toMobileNumber) && violations.length < FAULTS_TOLD) {
        const message = `${field} line ${line}: ${NUMBER} must be a phone number in E.164 form, such as +14155550123`;
        violations.push({ path: field, message });
      }
      return { toMobileNumber, dynamicVariables, line };
    },
  );
  const [first] = violations;
  if (first) throw new ServiceError("invalid", first.message, { violations });
  if (calls.length === 0) throw refusal(field, "must have at least one row below the names of its columns");
  return calls;
}

interface Row {
  record: Record<string, string>;
  info: Info;
}

function rowsOf(given: string, field: string): Row[] {
  const text = given.replace(SEPARATOR_LINE, "");
  try {
    return parse(text, {
      ...READ,
      delimiter: separatorOf(text),
      info: true,
      to: ROWS_MAX + 1,
      columns: (names: string[]) => checkedColumns(names, field),
      on_record: (row) => row,
    }) as unknown as Row[];
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw refusal(field, `is not valid CSV: ${(error as CsvError).message}`);
  }
}

const READ = { bom: true, trim: true, skip_empty_lines: true, max_record_size: RECORD_BYTES_MAX };

/** The separator with which the first row has the column of phone numbers; a comma if none does. */
function separatorOf(text: string): string {
  return SEPARATORS.find((delimiter) => firstRowOf(text, delimiter).includes(NUMBER)) ?? ",";
}

function firstRowOf(text: string, delimiter: string): string[] {
  try {
    return (parse(text.slice(0, RECORD_BYTES_MAX), { ...READ, delimiter, to: 1 }) as string[][])[0] ?? [];
  } catch {
    return [];
  }
}

function checkedColumns(names: string[], field: string): string[] {
  if (!names.includes(NUMBER)) throw refusal(field, `must have a column ${NUMBER} in its first row`);
  if (names.length > COLUMNS_MAX || new Set(names).size < names.length || names.includes("__proto__"))
    throw refusal(field, `must have at most ${COLUMNS_MAX} columns, each with a name of its own`);
  return names;
}

function refusal(field: string, must: string): ServiceError {
  const message = `${field} ${must}`;
  return new ServiceError("invalid", message, { violations: [{ path: field, message }] });
}
