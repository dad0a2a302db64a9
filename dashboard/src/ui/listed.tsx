import { ListX } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Pagination } from "./pagination.tsx";
import { EmptyState, ErrorState, LoadingRows } from "./states.tsx";
import { type Column, Table } from "./table.tsx";

/** The result of `useQuery` for a list, or for a page of one. */
interface ListQuery {
  data: { total: number } | readonly unknown[] | undefined;
  error: unknown;
  isPlaceholderData: boolean;
  refetch: () => unknown;
}

/** How many items a list has, as far as it has been read. */
export function totalOf({ data }: Pick<ListQuery, "data">): number {
  if (data === undefined) return 0;
  return "total" in data ? data.total : data.length;
}

/** Shown in place of a page after the last, such as that of an old link. */
export function PastEnd({ onFirst }: { onFirst: () => void }) {
  return (
    <EmptyState
      icon={ListX}
      title="Nothing on this page"
      action={<Button onClick={onFirst}>Go to the first page</Button>}
    >
      The list has become shorter.
    </EmptyState>
  );
}

/** A list: its table, or what is shown while it is read, when it failed, and when it is empty. */
export function Listed<Row>({
  query,
  rows,
  page = 1,
  pageSize,
  onPage,
  empty,
  ...table
}: {
  query: ListQuery;
  rows: readonly Row[] | undefined;
  page?: number | undefined;
  /** This and `onPage` are of a list that the server pages. */
  pageSize?: number;
  onPage?: (page: number) => void;
  /** Shown instead of a list without items. */
  empty: ReactNode;
  label: string;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
}) {
  if (query.data === undefined || rows === undefined)
    return query.error ? <ErrorState error={query.error} onRetry={query.refetch} /> : <LoadingRows />;
  const total = totalOf(query);
  if (total === 0) return empty;
  if (pageSize === undefined || !onPage) return <Table rows={rows} {...table} />;
  if (rows.length === 0) return <PastEnd onFirst={() => onPage(1)} />;
  return (
    <div
      className={`flex flex-col gap-4 motion-safe:transition-opacity ${query.isPlaceholderData ? "opacity-60" : ""}`}
      aria-busy={query.isPlaceholderData}
    >
      <Table rows={rows} {...table} />
      <Pagination page={page} pageSize={pageSize} total={total} onPage={onPage} />
    </div>
  );
}
