import { ListX } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "./button.tsx";
import { Pagination } from "./pagination.tsx";
import { EmptyState, ErrorState, LoadingRows } from "./states.tsx";
import { type Column, Table } from "./table.tsx";

/** The result of `useQuery` for a page of a list. */
interface PageQuery {
  data: { total: number } | undefined;
  error: unknown;
  isPlaceholderData: boolean;
  refetch: () => unknown;
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

/** A list that the server pages: its table, or what is shown while it is read, when it failed, and when it is empty. */
export function Listed<Row>({
  query,
  rows,
  page = 1,
  pageSize,
  onPage,
  empty,
  ...table
}: {
  query: PageQuery;
  rows: readonly Row[] | undefined;
  page?: number | undefined;
  pageSize: number;
  onPage: (page: number) => void;
  /** Shown instead of a list without items. */
  empty: ReactNode;
  label: string;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
}) {
  if (query.data === undefined || rows === undefined)
    return query.error ? <ErrorState error={query.error} onRetry={query.refetch} /> : <LoadingRows />;
  if (query.data.total === 0) return empty;
  if (rows.length === 0) return <PastEnd onFirst={() => onPage(1)} />;
  return (
    <div
      className={`flex flex-col gap-4 motion-safe:transition-opacity ${query.isPlaceholderData ? "opacity-60" : ""}`}
      aria-busy={query.isPlaceholderData}
    >
      <Table rows={rows} {...table} />
      <Pagination page={page} pageSize={pageSize} total={query.data.total} onPage={onPage} />
    </div>
  );
}
