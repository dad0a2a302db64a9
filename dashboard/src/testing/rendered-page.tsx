import { QueryClient, QueryClientProvider, type QueryKey } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { renderToString } from "react-dom/server";
import { Problem } from "../api/problem.ts";
import { meQuery } from "../api/session.ts";
import { createAppRouter } from "../app/routes.tsx";

/**
 * The HTML of a page for an owner who is signed in.
 * @param read what the page has read, by the keys of its queries
 * @param failure why reading all of it again has failed
 */
export async function renderedPage(
  path: string,
  read: readonly (readonly [QueryKey, unknown])[],
  failure: string,
): Promise<string> {
  const client = new QueryClient();
  client.setQueryData(meQuery.queryKey, { name: "Acme", email: "ops@acme.example" } as never);
  for (const [queryKey, data] of read) {
    const query = client.getQueryCache().build(client, client.defaultQueryOptions({ queryKey }));
    query.setState({ data, status: "error", error: new Problem(0, failure), dataUpdatedAt: 1 });
    // Nothing observes the queries of a page that is rendered as text.
    query.isActive = () => true;
  }
  const router = createAppRouter(client, createMemoryHistory({ initialEntries: [path] }));
  await router.load();
  return renderToString(
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
}
