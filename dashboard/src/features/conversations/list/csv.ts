/** Spreadsheets run a cell that begins so as a formula (https://owasp.org/www-community/attacks/CSV_Injection). */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * The text of a CSV file (https://www.rfc-editor.org/rfc/rfc4180), which spreadsheets read as UTF-8. A cell that they would take for a
 * formula begins with an apostrophe, which they hide.
 */
export function csvOf(rows: readonly (readonly string[])[]): string {
  return `\ufeff${rows.map((row) => `${row.map(cellOf).join(",")}\r\n`).join("")}`;
}

function cellOf(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
