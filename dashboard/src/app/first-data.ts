import type { QueryClient } from "@tanstack/react-query";

/** By a page's path: what it asks for first. */
export type FirstQueries = Record<string, (ids: Record<string, string>) => readonly { queryKey: readonly unknown[] }[]>;

/** A group of pages, which has one script. */
export type PageGroup = () => Promise<{ FIRST_QUERIES: FirstQueries }>;

/** How long a page waits for its data while its frame is shown, in milliseconds; after that it shows that it is loading. */
const WAIT_MAX_MS = 300;

/**
 * Reads what a page asks for first, so that its first render has it: a render without data shows only what the page's frame shows
 * already. Most of it was requested before the scripts ran. Settles after a while even without an answer.
 */
export async function readFirst(
  client: QueryClient,
  { path, ids, group }: { path: string; ids: Record<string, string>; group: PageGroup },
): Promise<void> {
  const { FIRST_QUERIES } = await group();
  const queries = FIRST_QUERIES[path]?.(ids) ?? [];
  await soon(Promise.all(queries.map((query) => client.prefetchQuery(query))));
}

/** What a page waits for before it is shown, but not for long; undefined if it is not there by then. */
export function soon<Value>(value: Promise<Value>): Promise<Value | undefined> {
  return Promise.race([value, new Promise<undefined>((resolve) => setTimeout(resolve, WAIT_MAX_MS))]);
}
