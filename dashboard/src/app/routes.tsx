import { EVENT_NAMES } from "@parley/shared/portable/events";
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  type RouterHistory,
  redirect,
} from "@tanstack/react-router";
import { Problem } from "../api/problem.ts";
import { meQuery } from "../api/session.ts";
import { AGENT_TYPES, type AgentFilters, type AgentType } from "../features/agents/agents.ts";
import { CALL_TABS } from "../features/calls/queries.ts";
import { CONVERSATION_TABS, filtersIn } from "../features/conversations/filters.ts";
import { SignInPage } from "../features/sign-in/sign-in-page.tsx";
import { daysIn } from "../features/statistics/queries.ts";
import { PageFailure, PageNotFound, PagePending } from "./failures.tsx";
import { type FirstQueries, type PageGroup, readFirst, soon } from "./first-data.ts";
import { numberIn, oneIn, opensNew, pageIn, textIn } from "./search-params.ts";
import { Shell } from "./shell.tsx";

const build = () => import("./pages/build.ts");
const observe = () => import("./pages/observe.ts");
const manage = () => import("./pages/manage.ts");

interface Context {
  queryClient: QueryClient;
}

const root = createRootRouteWithContext<Context>()({ component: Outlet });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  validateSearch: ({ next, ended }: Record<string, unknown>): { next?: string; ended?: true } => ({
    ...(isOwnPath(next) && { next }),
    ...(ended === true && { ended }),
  }),
  beforeLoad: async ({ context: { queryClient }, search: { next = "/" } }) => {
    // Whoever comes from another page has just heard it there.
    if (queryClient.getQueryState(meQuery.queryKey)) return;
    const me = queryClient.fetchQuery({ ...meQuery, retry: false }).catch(() => null);
    if (await soon(me)) throw redirect({ href: next, replace: true });
  },
  component: SignInPage,
});

/** Every page below it needs a session; a deep link is returned to after signing in. */
const signedIn = createRoute({
  getParentRoute: () => root,
  id: "signed-in",
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queryClient.ensureQueryData(meQuery);
    } catch (error) {
      if (!(error instanceof Problem && error.status === 401)) throw error;
      throw redirect({ to: "/sign-in", search: location.href === "/" ? {} : { next: location.href } });
    }
  },
  component: Shell,
});

/** What the routes of a group's pages have in common. @param name of the page's component */
function page<Pages extends { FIRST_QUERIES: FirstQueries }, Name extends keyof Pages>(
  group: () => Promise<Pages>,
  name: Name,
) {
  return { getParentRoute: () => signedIn, component: lazyRouteComponent(group, name), staticData: { group } };
}

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  validateSearch: daysIn,
  component: lazyRouteComponent(() => import("../features/overview/overview-page.tsx"), "OverviewPage"),
});

const agents = createRoute({
  ...page(build, "AgentsPage"),
  path: "/agents",
  validateSearch: (search: Record<string, unknown>): AgentFilters & { new?: true } => ({
    ...opensNew(search),
    ...textIn(search, "search"),
    ...(AGENT_TYPES.some(({ value }) => value === search.agent_type) && { agent_type: search.agent_type as AgentType }),
    ...pageIn(search),
  }),
});

/** As the API names them. */
const TOOL_TYPE_NAMES = ["http", "client", "mcp"] as const;

const AGENT_TABS = ["prompt", "models", "tools", "knowledge", "analysis", "channels", "versions", "tests"] as const;
const agent = createRoute({
  ...page(build, "AgentPage"),
  path: "/agents/$agentId",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneIn(search, "tab", AGENT_TABS),
    ...oneIn(search, "try", ["chat", "talk"] as const),
    ...numberIn(search, "tried"),
    ...oneIn(search, "view", ["runs", "replays"] as const),
    ...textIn(search, "run"),
    ...(search.replay === true && { replay: true as const }),
    ...numberIn(search, "version"),
    ...numberIn(search, "against"),
    ...(search.log === true && { log: true as const }),
    ...pageIn(search),
  }),
});

const newTest = createRoute({
  ...page(build, "NewTestPage"),
  path: "/agents/$agentId/tests/new",
});

const test = createRoute({
  ...page(build, "TestPage"),
  path: "/agents/$agentId/tests/$testId",
});

const testRun = createRoute({
  ...page(build, "RunPage"),
  path: "/agents/$agentId/runs/$runId",
});

const replay = createRoute({
  ...page(build, "ReplayPage"),
  path: "/agents/$agentId/replays/$replayId",
});

const prompts = createRoute({
  ...page(build, "PromptsPage"),
  path: "/prompts",
  validateSearch: (search: Record<string, unknown>) => ({
    ...opensNew(search),
    ...textIn(search, "search"),
    ...pageIn(search),
  }),
});

const prompt = createRoute({
  ...page(build, "PromptPage"),
  path: "/prompts/$promptName",
  validateSearch: (search: Record<string, unknown>) => numberIn(search, "version"),
});

const tools = createRoute({
  ...page(build, "ToolsPage"),
  path: "/tools",
  validateSearch: (search: Record<string, unknown>) => ({
    ...opensNew(search),
    ...textIn(search, "search"),
    ...oneIn(search, "type", TOOL_TYPE_NAMES),
    ...pageIn(search),
  }),
});

const newTool = createRoute({
  ...page(build, "NewToolPage"),
  path: "/tools/new",
  validateSearch: (search: Record<string, unknown>) => oneIn(search, "type", TOOL_TYPE_NAMES),
});

const importTools = createRoute({
  ...page(build, "ImportToolsPage"),
  path: "/tools/import",
});

const tool = createRoute({
  ...page(build, "ToolPage"),
  path: "/tools/$toolId",
  validateSearch: (search: Record<string, unknown>): { try?: true } => (search.try === true ? { try: true } : {}),
});

const knowledge = createRoute({
  ...page(build, "KnowledgePage"),
  path: "/knowledge",
  validateSearch: (search: Record<string, unknown>) => ({
    ...opensNew(search),
    ...textIn(search, "search"),
    ...pageIn(search),
  }),
});

const knowledgeBase = createRoute({
  ...page(build, "KnowledgeBasePage"),
  path: "/knowledge/$baseId",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneIn(search, "tab", ["search"] as const),
    ...textIn(search, "query"),
    ...textIn(search, "search"),
    ...oneIn(search, "status", ["PENDING", "READY", "FAILED"] as const),
    ...pageIn(search),
  }),
});

const document = createRoute({
  ...page(build, "DocumentPage"),
  path: "/knowledge/$baseId/documents/$documentId",
  validateSearch: (search: Record<string, unknown>) => textIn(search, "chunk"),
});

const keys = createRoute({
  ...page(manage, "KeysPage"),
  path: "/keys",
  validateSearch: opensNew,
});

const conversations = createRoute({
  ...page(observe, "ConversationsPage"),
  path: "/conversations",
  validateSearch: filtersIn,
});

const conversation = createRoute({
  ...page(observe, "ConversationPage"),
  path: "/conversations/$conversationId",
  validateSearch: (search: Record<string, unknown>) => oneIn(search, "tab", CONVERSATION_TABS),
});

const calls = createRoute({
  ...page(observe, "CallsPage"),
  path: "/calls",
  validateSearch: (search: Record<string, unknown>) => ({
    ...opensNew(search),
    ...oneIn(search, "tab", CALL_TABS),
    ...oneIn(search, "status", ["RINGING,IN_PROGRESS", "QUEUED", "ENDED"] as const),
    ...textIn(search, "batch_id"),
    ...textIn(search, "search"),
    ...pageIn(search),
  }),
});

const numbers = createRoute({
  ...page(manage, "NumbersPage"),
  path: "/numbers",
  validateSearch: opensNew,
});

const secrets = createRoute({
  ...page(manage, "SecretsPage"),
  path: "/secrets",
  validateSearch: opensNew,
});

const alerts = createRoute({
  ...page(manage, "AlertsPage"),
  path: "/alerts",
  validateSearch: opensNew,
});

const webhooks = createRoute({
  ...page(manage, "WebhooksPage"),
  path: "/webhooks",
  validateSearch: opensNew,
});

const webhook = createRoute({
  ...page(manage, "DestinationPage"),
  path: "/webhooks/$destinationId",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneIn(search, "tab", ["receiver"] as const),
    ...oneIn(search, "status", ["pending", "delivered", "failed", "cancelled"] as const),
    ...oneIn(search, "event", EVENT_NAMES),
    ...pageIn(search),
  }),
});

const usage = createRoute({
  ...page(manage, "UsagePage"),
  path: "/usage",
  validateSearch: daysIn,
});

const settings = createRoute({
  ...page(manage, "SettingsPage"),
  path: "/settings",
});

/** Any other address: whoever is signed in still has the navigation. */
const unknown = createRoute({ getParentRoute: () => signedIn, path: "$", component: PageNotFound });

/** @param history replaces the browser's, for a page that is rendered outside of one */
export function createAppRouter(queryClient: QueryClient, history?: RouterHistory) {
  return createRouter({
    ...(history && { history }),
    routeTree: root.addChildren([
      signIn,
      signedIn.addChildren([
        overview,
        agents,
        agent,
        newTest,
        test,
        testRun,
        replay,
        prompts,
        prompt,
        tools,
        newTool,
        importTools,
        tool,
        knowledge,
        knowledgeBase,
        document,
        conversations,
        conversation,
        calls,
        numbers,
        alerts,
        webhooks,
        webhook,
        keys,
        secrets,
        usage,
        settings,
        unknown,
      ]),
    ]),
    context: { queryClient },
    defaultPreload: "intent",
    defaultPendingMs: 150,
    defaultPendingComponent: PagePending,
    defaultErrorComponent: PageFailure,
    defaultNotFoundComponent: PageNotFound,
    // Outside of a browser it would be a script in the page, which the content security policy forbids.
    scrollRestoration: history === undefined,
  });
}

export type AppRouter = ReturnType<typeof createAppRouter>;

/**
 * Asks who is signed in and fetches the page's scripts, both at once, and then waits a moment for the page's first data. Settles when
 * the page can be rendered, or shows why not.
 */
export async function load(router: AppRouter): Promise<void> {
  const scripts = router
    .matchRoutes(router.latestLocation)
    .map(({ routeId }) => router.loadRouteChunk(router.routesById[routeId as keyof typeof router.routesById]));
  await Promise.allSettled([router.load(), ...scripts]);
  const { matches, location } = router.state;
  const page = matches.at(-1);
  if (!page?.staticData.group || location.searchStr !== "") return;
  const { queryClient } = router.options.context;
  await readFirst(queryClient, { path: page.fullPath, ids: page.params, group: page.staticData.group });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: AppRouter;
  }
  interface StaticDataRouteOption {
    group?: PageGroup;
  }
}

/** A path of this site: another site's address must not be opened by a link to the sign-in page. */
function isOwnPath(next: unknown): next is string {
  return typeof next === "string" && /^\/(?![/\\])/.test(next);
}
