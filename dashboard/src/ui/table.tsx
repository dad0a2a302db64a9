import { clsx } from "clsx";
import { type MouseEvent, memo, type ReactNode } from "react";

export interface Column<Row> {
  /** Unique among the columns; the heading unless `label` is given. */
  name: string;
  label?: ReactNode;
  cell: (row: Row) => ReactNode;
  align?: "right";
  /** Narrow screens leave out such a column; with `very`, all but wide screens do. */
  wide?: boolean | "very";
  className?: string;
}

/** A list as a table. A link of the class `ROW_LINK` takes a click anywhere in its row. */
export function Table<Item>({
  label,
  columns,
  rows,
  rowKey,
}: {
  /** The table's subject, for screen readers. */
  label: string;
  /** The same array as long as the cells of a row are the same: only then are rows not rendered again with their page. */
  columns: readonly Column<Item>[];
  rows: readonly Item[];
  rowKey: (row: Item) => string;
}) {
  return (
    <div className="relative scroll-hint-raised overflow-x-auto rounded-xl border border-line bg-raised">
      <table aria-label={label} className="w-full border-collapse text-left">
        <thead>
          <tr className="border-b border-line bg-surface text-xs text-muted">
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={clsx("px-4 py-2 font-medium max-sm:px-3 whitespace-nowrap", placed(column))}
              >
                {column.label ?? column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={rowKey(row)} row={row} columns={columns as readonly Column<unknown>[]} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

const Row = memo(function Row({ row, columns }: { row: unknown; columns: readonly Column<unknown>[] }) {
  return (
    <tr
      className="relative border-b border-line last:border-b-0 focus-within:bg-hover hover:bg-hover"
      onClick={followRowLink}
    >
      {columns.map((column) => (
        <td
          key={column.name}
          className={clsx("px-4 py-2.5 align-middle max-sm:px-3", placed(column), column.className)}
        >
          {column.cell(row)}
        </td>
      ))}
    </tr>
  );
});

function placed({ align, wide }: Pick<Column<unknown>, "align" | "wide">): string {
  return clsx(align === "right" && "text-right", wide === "very" ? "max-xl:hidden" : wide && "max-md:hidden");
}

/**
 * What lies above the row's link, such as a time with its hover text, gives its clicks to the link. Keys need nothing: they reach
 * the link itself.
 */
function followRowLink(event: MouseEvent<HTMLTableRowElement>): void {
  const { target, currentTarget, ctrlKey, metaKey, shiftKey } = event;
  if (!(target instanceof Element) || target.closest("a, button, input, select, label")) return;
  // What a menu or a dialog of the row shows is elsewhere in the page, though its events come by here.
  if (!currentTarget.contains(target)) return;
  currentTarget
    .querySelector(".row-link")
    ?.dispatchEvent(new window.MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }));
}

/** The class of a link that takes a click anywhere in its row; buttons in the row need `relative` to stay above it. */
export const ROW_LINK = "row-link font-medium after:absolute after:inset-0 hover:underline";

/** A column of figures, aligned to the right. */
export const FIGURES = { align: "right", className: "text-muted tabular-nums whitespace-nowrap" } as const;

/** A column of times, which comes last. */
export const MOMENT = { wide: true, align: "right", className: "text-muted whitespace-nowrap" } as const;
