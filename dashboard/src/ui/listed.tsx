import type { ReactNode } from "react";
import { Pagination } from "./pagination.tsx";
import { ErrorState, LoadingRows } from "./states.tsx";
import { type Column, Table } from "./table.tsx";

/** The result of `useQuery` for a page of a list. */
interface PageQuery {
  data: { total: number } | undefined;
  error: unknown;
  isPlaceholderData: boolean;
  refetch: () => unknown;
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
