export interface Line {
  text: string;
  /** The height of its letters, in halves of a point. */
  size: number;
  /** Whether it stands right below the line before it. */
  follows: boolean;
  /** Whether it reaches to the right margin. */
  isFull: boolean;
  /** Whether it has wide gaps, as a row of a table has. */
  hasColumns: boolean;
}

/** A piece of text as a PDF places it. */
interface Placed {
  str: string;
  /** The transformation: its fifth and sixth number are the place. */
  transform: number[];
  width: number;
  height: number;
}

interface Row {
  text: string;
  x: number;
  y: number;
  end: number;
  size: number;
  hasColumns: boolean;
}

/** As parts of the letters' height. */
const SPACE = 0.15;
const COLUMN_GAP = 1.5;
const SAME_LINE = 0.5;
const NEXT_LINE = 1.9;
/** The part of the widest line that a line must have for the text to go on in the next. */
const FULL = 0.85;

/** The lines of a page in the order of its text. */
export function linesOf(items: readonly object[]): Line[] {
  const rows: Row[] = [];
  for (const item of items) if ("str" in item) place(rows, item as Placed);
  const written = rows.filter(({ text }) => text.trim() !== "");
  const right = Math.max(...written.map(({ end }) => end));
  const left = Math.min(...written.map(({ x }) => x));
  return written.map((row, at) => {
    const above = written[at - 1];
    return {
      text: row.text.replace(/\s+/g, " ").trim(),
      size: Math.round(row.size * 2),
      follows: above !== undefined && above.y > row.y && above.y - row.y <= NEXT_LINE * Math.max(above.size, row.size),
      isFull: row.end - left >= FULL * (right - left),
      hasColumns: row.hasColumns,
    };
  });
}

function place(rows: Row[], { str, transform, width, height }: Placed): void {
  const [x = 0, y = 0] = transform.slice(4);
  const size = height || Math.hypot(transform[2] ?? 0, transform[3] ?? 0);
  const row = rows.at(-1);
  if (str === "" || size === 0) return;
  if (row && Math.abs(row.y - y) <= SAME_LINE * Math.max(size, row.size) && x >= row.end - row.size) {
    const gap = (x - row.end) / Math.max(size, row.size);
    const isColumn = gap > COLUMN_GAP && str.trim() !== "" && row.text.trim() !== "";
    if (isColumn) row.hasColumns = true;
    row.text = isColumn ? `${row.text.trimEnd()} | ${str}` : row.text + (gap > SPACE ? " " : "") + str;
    if (str.trim() === "") return;
    row.end = x + width;
    row.size = Math.max(row.size, size);
  } else if (str.trim() !== "") rows.push({ text: str, x, y, end: x + width, size, hasColumns: false });
}
