import { ChevronLeft, ChevronRight } from "lucide-react";
import { Button } from "./button.tsx";
import { numberOf } from "./numbers.ts";
import { useShownFirst } from "./painted.ts";

/**
 * Shows which part of a list is shown, with buttons for the next and the previous part; nothing for a list of one page. The numbers
 * change before the list does.
 */
export function Pagination({
  page: found,
  pageSize,
  total,
  onPage,
}: {
  page: number;
  pageSize: number;
  total: number;
  onPage: (page: number) => void;
}) {
  const [page, goTo] = useShownFirst(found, onPage);
  const pages = Math.max(1, Math.ceil(total / pageSize));
  if (pages === 1 && page === 1) return null;
  const first = (page - 1) * pageSize + 1;
  return (
    <nav aria-label="Pages" className="flex items-center justify-between gap-4 text-muted">
      <span>
        {numberOf(first)}–{numberOf(Math.min(total, page * pageSize))} of {numberOf(total)}
      </span>
      <span className="flex gap-2">
        <Button size="small" disabled={page <= 1} onClick={() => goTo(page - 1)}>
          <ChevronLeft aria-hidden /> Previous
        </Button>
        <Button size="small" disabled={page >= pages} onClick={() => goTo(page + 1)}>
          Next <ChevronRight aria-hidden />
        </Button>
      </span>
    </nav>
  );
}
