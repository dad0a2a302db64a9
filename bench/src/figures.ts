function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** The median of each field over the rounds. */
export function medians<K extends string>(rounds: readonly Record<K, number>[]): Record<K, number> {
  const fields = Object.keys(rounds[0] ?? {}) as K[];
  return Object.fromEntries(fields.map((field) => [field, median(rounds.map((round) => round[field]))])) as Record<
    K,
    number
  >;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en");
}

export function milliseconds(us: number): string {
  return `${(us / 1000).toFixed(2)} ms`;
}

export function microseconds(us: number): string {
  return `${Math.round(us)} µs`;
}

/** Lines of a table with a column of names and columns of figures. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) => row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))))
    .map((row) => `  ${row.join("  ")}`)
    .join("\n");
}
