import { clsx } from "clsx";
import type { ReactNode } from "react";

export interface Column<Row> {
  /** Unique among the columns; the heading unless `label` is given. */
  name: string;
  label?: ReactNode;
  cell: (row: Row) => ReactNode;
  align?: "right";
  /** Narrow screens leave such a column out. */
  wide?: boolean;
  className?: string;
}

/** A list as a table. Its first column's links take a click anywhere in their row. */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
}: {
  /** What the table lists, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
}) {
  const placed = ({ align, wide }: Column<Row>) => clsx(align === "right" && "text-right", wide && "max-md:hidden");
  return (
    <div className="relative overflow-x-auto rounded-xl border border-line bg-raised">
      <table aria-label={label} className="w-full border-collapse text-left">
        <thead>
          <tr className="border-b border-line bg-surface text-xs text-muted">
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={clsx("px-4 py-2.5 font-medium whitespace-nowrap", placed(column))}
              >
                {column.label ?? column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={rowKey(row)}
              className="relative border-b border-line last:border-b-0 focus-within:bg-hover hover:bg-hover"
            >
              {columns.map((column) => (
                <td key={column.name} className={clsx("px-4 py-3 align-middle", placed(column), column.className)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The class of a link that takes a click anywhere in its row; buttons in the row need `relative` to stay above it. */
export const ROW_LINK = "font-medium after:absolute after:inset-0 hover:underline";
