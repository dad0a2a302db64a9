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
import { type PageGroup, readFirst, soon } from "./first-data.ts";
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

const overview = createRoute({
  getParentRoute: () => signedIn,
  path: "/",
  validateSearch: daysIn,
  component: lazyRouteComponent(() => import("../features/overview/overview-page.tsx"), "OverviewPage"),
});

const agents = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents",
  validateSearch: (search: Record<string, unknown>): AgentFilters & { new?: true } => ({
    ...opensNew(search),
    ...textIn(search, "search"),
    ...(AGENT_TYPES.some(({ value }) => value === search.agent_type) && { agent_type: search.agent_type as AgentType }),
    ...pageIn(search),
  }),
  component: lazyRouteComponent(build, "AgentsPage"),
  staticData: { group: build },
});

/** As the API names them. */
const TOOL_TYPE_NAMES = ["http", "client", "mcp"] as const;

const AGENT_TABS = ["prompt", "models", "tools", "knowledge", "analysis", "channels", "versions", "tests"] as const;
const agent = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneIn(search, "tab", AGENT_TABS),
    ...oneIn(search, "try", ["chat", "talk"] as const),
    ...oneIn(search, "view", ["runs", "replays"] as const),
    ...textIn(search, "run"),
    ...(search.replay === true && { replay: true as const }),
    ...numberIn(search, "version"),
    ...numberIn(search, "against"),
    ...(search.log === true && { log: true as const }),
    ...pageIn(search),
  }),
  component: lazyRouteComponent(build, "AgentPage"),
  staticData: { group: build },
});

const newTest = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId/tests/new",
  component: lazyRouteComponent(build, "NewTestPage"),
  staticData: { group: build },
});

const test = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId/tests/$testId",
  component: lazyRouteComponent(build, "TestPage"),
  staticData: { group: build },
});

const testRun = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId/runs/$runId",
  component: lazyRouteComponent(build, "RunPage"),
  staticData: { group: build },
});

const replay = createRoute({
  getParentRoute: () => signedIn,
  path: "/agents/$agentId/replays/$replayId",
  component: lazyRouteComponent(build, "ReplayPage"),
  staticData: { group: build },
});

const prompts = createRoute({
  getParentRoute: () => signedIn,
  path: "/prompts",
  validateSearch: (search: Record<string, unknown>) => ({
    ...opensNew(search),
    ...textIn(search, "search"),
    ...pageIn(search),
  }),
  component: lazyRouteComponent(build, "PromptsPage"),
  staticData: { group: build },
});

const prompt = createRoute({
  getParentRoute: () => signedIn,
  path: "/prompts/$promptName",
  validateSearch: (search: Record<string, unknown>) => numberIn(search, "version"),
  component: lazyRouteComponent(build, "PromptPage"),
  staticData: { group: build },
});

const tools = createRoute({
  getParentRoute: () => signedIn,
  path: "/tools",
  validateSearch: (search: Record<string, unknown>) => ({
    ...opensNew(search),
    ...textIn(search, "search"),
    ...oneIn(search, "type", TOOL_TYPE_NAMES),
    ...pageIn(search),
  }),
  component: lazyRouteComponent(build, "ToolsPage"),
  staticData: { group: build },
});

const newTool = createRoute({
  getParentRoute: () => signedIn,
  path: "/tools/new",
  validateSearch: (search: Record<string, unknown>) => oneIn(search, "type", TOOL_TYPE_NAMES),
  component: lazyRouteComponent(build, "NewToolPage"),
  staticData: { group: build },
});

const importTools = createRoute({
  getParentRoute: () => signedIn,
  path: "/tools/import",
  component: lazyRouteComponent(build, "ImportToolsPage"),
  staticData: { group: build },
});

const tool = createRoute({
  getParentRoute: () => signedIn,
  path: "/tools/$toolId",
  validateSearch: (search: Record<string, unknown>): { try?: true } => (search.try === true ? { try: true } : {}),
  component: lazyRouteComponent(build, "ToolPage"),
  staticData: { group: build },
});

const knowledge = createRoute({
  getParentRoute: () => signedIn,
  path: "/knowledge",
  validateSearch: (search: Record<string, unknown>) => ({
    ...opensNew(search),
    ...textIn(search, "search"),
    ...pageIn(search),
  }),
  component: lazyRouteComponent(build, "KnowledgePage"),
  staticData: { group: build },
});

const knowledgeBase = createRoute({
  getParentRoute: () => signedIn,
  path: "/knowledge/$baseId",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneIn(search, "tab", ["search"] as const),
    ...textIn(search, "query"),
    ...textIn(search, "search"),
    ...oneIn(search, "status", ["PENDING", "READY", "FAILED"] as const),
    ...pageIn(search),
  }),
  component: lazyRouteComponent(build, "KnowledgeBasePage"),
  staticData: { group: build },
});

const document = createRoute({
  getParentRoute: () => signedIn,
  path: "/knowledge/$baseId/documents/$documentId",
  validateSearch: (search: Record<string, unknown>) => textIn(search, "chunk"),
  component: lazyRouteComponent(build, "DocumentPage"),
  staticData: { group: build },
});

const keys = createRoute({
  getParentRoute: () => signedIn,
  path: "/keys",
  validateSearch: opensNew,
  component: lazyRouteComponent(manage, "KeysPage"),
  staticData: { group: manage },
});

const conversations = createRoute({
  getParentRoute: () => signedIn,
  path: "/conversations",
  validateSearch: filtersIn,
  component: lazyRouteComponent(observe, "ConversationsPage"),
  staticData: { group: observe },
});

const conversation = createRoute({
  getParentRoute: () => signedIn,
  path: "/conversations/$conversationId",
  validateSearch: (search: Record<string, unknown>) => oneIn(search, "tab", CONVERSATION_TABS),
  component: lazyRouteComponent(observe, "ConversationPage"),
  staticData: { group: observe },
});

const calls = createRoute({
  getParentRoute: () => signedIn,
  path: "/calls",
  validateSearch: (search: Record<string, unknown>) => ({
    ...opensNew(search),
    ...oneIn(search, "tab", CALL_TABS),
    ...oneIn(search, "status", ["RINGING,IN_PROGRESS", "QUEUED", "ENDED"] as const),
    ...textIn(search, "batch_id"),
    ...textIn(search, "search"),
    ...pageIn(search),
  }),
  component: lazyRouteComponent(observe, "CallsPage"),
  staticData: { group: observe },
});

const numbers = createRoute({
  getParentRoute: () => signedIn,
  path: "/numbers",
  validateSearch: opensNew,
  component: lazyRouteComponent(manage, "NumbersPage"),
  staticData: { group: manage },
});

const secrets = createRoute({
  getParentRoute: () => signedIn,
  path: "/secrets",
  validateSearch: opensNew,
  component: lazyRouteComponent(manage, "SecretsPage"),
  staticData: { group: manage },
});

const alerts = createRoute({
  getParentRoute: () => signedIn,
  path: "/alerts",
  validateSearch: opensNew,
  component: lazyRouteComponent(manage, "AlertsPage"),
  staticData: { group: manage },
});

const webhooks = createRoute({
  getParentRoute: () => signedIn,
  path: "/webhooks",
  validateSearch: opensNew,
  component: lazyRouteComponent(manage, "WebhooksPage"),
  staticData: { group: manage },
});

const webhook = createRoute({
  getParentRoute: () => signedIn,
  path: "/webhooks/$destinationId",
  validateSearch: (search: Record<string, unknown>) => ({
    ...oneIn(search, "tab", ["receiver"] as const),
    ...oneIn(search, "status", ["pending", "delivered", "failed", "cancelled"] as const),
    ...oneIn(search, "event", EVENT_NAMES),
    ...pageIn(search),
  }),
  component: lazyRouteComponent(manage, "DestinationPage"),
  staticData: { group: manage },
});

const usage = createRoute({
  getParentRoute: () => signedIn,
  path: "/usage",
  validateSearch: daysIn,
  component: lazyRouteComponent(manage, "UsagePage"),
  staticData: { group: manage },
});

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: "/settings",
  component: lazyRouteComponent(manage, "SettingsPage"),
  staticData: { group: manage },
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
