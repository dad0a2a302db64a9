/** A row of a Markdown table, on one line whatever the cells contain. */
export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => oneLine(cell).replaceAll("|", "\\|")).join(" | ")} |`;
}

/** The line below the first row of a Markdown table. */
export function tableRule(columns: number): string {
  return `|${" --- |".repeat(columns)}`;
}

export function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
