import { CsvError, parse } from "csv-parse/sync";
import { Refusal } from "../reading.ts";
import { tableRow, tableRule } from "./markdown.ts";

const SEPARATORS = [",", ";", "\t"];

/** A table whose first row names the columns. */
export function textOfCsv(text: string): string {
  const [head = [], ...rows] = rowsOf(text.replace(/^sep=.\r?\n/i, ""));
  return [tableRow(head), tableRule(head.length), ...rows.map(tableRow)].join("\n");
}

function rowsOf(text: string): string[][] {
  try {
    return parse(text, {
      delimiter: separatorOf(text),
      bom: true,
      relaxColumnCount: true,
      relaxQuotes: true,
      skipEmptyLines: true,
      skipRecordsWithEmptyValues: true,
      maxRecordSize: 1024 ** 2,
    });
  } catch (error) {
    if (error instanceof CsvError) throw new Refusal(`The table cannot be read: ${error.message.split("\n")[0]}.`);
    throw error;
  }
}

/** The separator that the first line has most of: Excel writes semicolons where numbers have a decimal comma. */
function separatorOf(text: string): string {
  const [line = ""] = text.split(/[\r\n]/, 1);
  const count = (separator: string) => line.split(separator).length;
  return SEPARATORS.reduce((best, each) => (count(each) > count(best) ? each : best));
}
