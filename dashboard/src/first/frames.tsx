import { type Query, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createMemoryHistory, RouterProvider } from "@tanstack/react-router";
import { renderToString } from "react-dom/server";
import { meQuery } from "../api/session.ts";
import { NAVIGATION } from "../app/navigation.ts";
import { type AppRouter, createAppRouter } from "../app/routes.tsx";
import { ANY_ID, FIRST_REQUESTS, type TakeEarly } from "./requests.ts";

/** A page of a signed-in owner before it has any data. */
export interface Frame {
  /** The path of the page's address, with `_` for a name or id. */
  path: string;
  html: string;
  /** For the page's head: the page's first requests, for the early script. */
  head: string;
  /** The file of the page's scripts, below `src`. */
  script: string;
}

const NOBODY = { name: "\u00a0", email: "\u00a0" } as never;

/** The frames of all pages. Nothing is read: what a page asks for is noted and never answered. */
export async function framesOfPages(): Promise<Frame[]> {
  const { routesByPath } = createAppRouter(new QueryClient(), createMemoryHistory());
  const paths = Object.keys(routesByPath).filter(
    (path) => path !== SIGN_IN && path !== ANYWHERE && !TWO_IDS.test(path),
  );
  const frames: Frame[] = [];
  for (const path of paths) frames.push(await frameOf(path.replaceAll(/\$\w+/g, ANY_ID)));
  return frames;
}

/** Password managers fill in its fields at once, so they must be the ones that stay. */
const SIGN_IN = "/sign-in";

/** A frame's requests know only the id at the end of the address. */
const TWO_IDS = /\$.*\$/;

/** Nobody comes to an unknown address on purpose. */
const ANYWHERE = "/$";

async function frameOf(path: string): Promise<Frame> {
  const client = new QueryClient();
  client.setQueryData(meQuery.queryKey, NOBODY);
  const router = createAppRouter(client, createMemoryHistory({ initialEntries: [path] }));
  await router.load();
  const html = renderToString(
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>,
  );
  await addFirst(client, router);
  const requests = JSON.stringify(requestsOf(client.getQueryCache().getAll()));
  return {
    path,
    html,
    head: renderToString(<meta name={FIRST_REQUESTS} content={requests} />),
    script: scriptOf(path),
  };
}

/** The pages of a group of the navigation come together. */
function scriptOf(path: string): string {
  const isIn = (to: string) => to !== "/" && `${path}/`.startsWith(`${to}/`);
  const group = NAVIGATION.find(({ destinations }) => destinations.some(({ to }) => isIn(to)));
  return group?.label ? `app/pages/${group.label.toLowerCase()}.ts` : "features/overview/overview-page.tsx";
}

/** What the page asks for only once it has other data. */
async function addFirst(client: QueryClient, router: AppRouter): Promise<void> {
  const { staticData, fullPath = "", params = {} } = router.state.matches.at(-1) ?? {};
  for (const query of (await staticData?.group?.())?.FIRST_QUERIES[fullPath]?.(params) ?? [])
    client.getQueryCache().build(client, client.defaultQueryOptions(query));
}

/** In the order in which the page sends them; the first asks who is signed in. */
function requestsOf(queries: readonly Query[]): string[] {
  const requests: string[] = [];
  const note: TakeEarly = (url) => {
    const { pathname, search } = new URL(url);
    if (!OF_A_DAY.test(search)) requests.push(`${pathname}${search}`);
    return new Promise(() => {});
  };
  globalThis.parleyEarly = note;
  try {
    for (const query of queries) void query.fetch().catch(() => {});
  } finally {
    globalThis.parleyEarly = undefined;
  }
  return requests;
}

/** Tomorrow the page asks for another. */
const OF_A_DAY = /=\d{4}-\d\d-\d\d/;
