import { clsx } from "clsx";
import { Plus, X } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../button.tsx";
import { FieldError } from "./field.tsx";

/**
 * A list whose items have a few fields each, side by side where there is room.
 * @param item what one is called, such as `header`
 * @param blank what is added
 * @param columns the class of a wide screen's columns, the last one for the button that removes
 * @param error what is wrong with the list as a whole
 * @param children the fields of an item
 */
export function Rows<Row>({
  label,
  item,
  rows,
  max = Number.POSITIVE_INFINITY,
  onChange,
  blank,
  columns,
  error,
  children,
}: {
  label: string;
  item: string;
  rows: readonly Row[];
  max?: number;
  onChange: (rows: Row[]) => void;
  blank: () => Row;
  columns: string;
  error?: string | undefined;
  children: (row: Row, change: (changed: Partial<Row>) => void, at: number) => ReactNode;
}) {
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-2 font-medium">{label}</legend>
      {rows.map((row, at) => (
        <fieldset
          key={at}
          className={clsx(
            "relative grid min-w-0 items-start gap-3 rounded-lg border border-line p-3 max-sm:pr-12",
            columns,
          )}
        >
          <legend className="sr-only">{`${item} ${at + 1}`}</legend>
          {children(row, (changed) => onChange(rows.with(at, { ...row, ...changed })), at)}
          <Button
            variant="ghost"
            size="icon"
            className="max-sm:absolute max-sm:top-2 max-sm:right-2 sm:mt-7"
            aria-label={`Remove ${item} ${at + 1}`}
            onClick={() => onChange(rows.toSpliced(at, 1))}
          >
            <X aria-hidden />
          </Button>
        </fieldset>
      ))}
      <FieldError>{error}</FieldError>
      <div>
        <Button size="small" disabled={rows.length >= max} onClick={() => onChange([...rows, blank()])}>
          <Plus aria-hidden /> Add {item}
        </Button>
      </div>
    </fieldset>
  );
}
