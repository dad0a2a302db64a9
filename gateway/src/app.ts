import { type AnyElysia, Elysia } from "elysia";
import type { Clients } from "./clients.ts";
import type { Drain } from "./drain.ts";
import type { GateContext } from "./gate.ts";
import { jsonAnswer } from "./http/answer/answers.ts";
import { hasHost, hasManyHosts, pathOf } from "./http/path.ts";
import { commonHeaders, requestIdOf } from "./http/request-id.ts";
import { openApiDocument } from "./openapi/document.ts";
import { HttpError, problemOf } from "./problem.ts";
import { agentRoutes } from "./routes/agents.ts";
import { carrierCallbackRoutes } from "./routes/callbacks/carriers.ts";
import { dailyWebhookRoutes } from "./routes/callbacks/daily.ts";
import { whatsAppCallbackRoutes } from "./routes/callbacks/whatsapp.ts";
import { callBatchRoutes } from "./routes/calls/call-batches.ts";
import { callRoutes } from "./routes/calls/calls.ts";
import { dailySessionRoutes } from "./routes/calls/daily-sessions.ts";
import { recordingRoutes } from "./routes/calls/recordings.ts";
import { webCallRoutes } from "./routes/calls/web-calls.ts";
import { whepRoutes } from "./routes/calls/whep.ts";
import { whipRoutes } from "./routes/calls/whip.ts";
import { catalogueRoutes } from "./routes/catalogue.ts";
import { chatRoutes } from "./routes/chat.ts";
import { conversationRoutes } from "./routes/conversations.ts";
import { cspReportRoutes } from "./routes/csp-reports.ts";
import { type Dashboard, dashboardRoutes, pageFor } from "./routes/dashboard.ts";
import { docsRoutes } from "./routes/docs.ts";
import { operationOf } from "./routes/endpoint.ts";
import { healthRoutes } from "./routes/health.ts";
import { documentRoutes } from "./routes/knowledge/documents.ts";
import { knowledgeBaseRoutes } from "./routes/knowledge/knowledge-bases.ts";
import { liveRoutes } from "./routes/live.ts";
import { manageRoutes } from "./routes/manage/manage.ts";
import { promptRoutes } from "./routes/prompts.ts";
import { replayRoutes } from "./routes/tests/replays.ts";
import { testRunRoutes } from "./routes/tests/runs.ts";
import { testRoutes } from "./routes/tests/tests.ts";
import { toolRoutes } from "./routes/tools.ts";
import { publishingRoutes } from "./routes/versions/publishing.ts";
import { versionRoutes } from "./routes/versions/versions.ts";
import { whatsAppRoutes } from "./routes/whatsapp.ts";
import { widgetRoutes } from "./routes/widget.ts";

/**
 * The public API and the management API over HTTP.
 * @param dashboard the web application for browsers, if there is one
 */
export function createApp(
  gate: GateContext,
  clients: Clients,
  drain: Pick<Drain, "isDraining">,
  dashboard: Dashboard | null = null,
) {
  // By default, Elysia looks for the path after the first 11 characters of the URL, which breaks `http://api/`.
  const api = new Elysia({ handler: { standardHostname: false } })
    .onRequest(({ request }) => {
      if (hasManyHosts(request)) throw new HttpError(400, "The Host header must be given once");
    })
    .use(agentRoutes(gate, clients))
    .use(versionRoutes(gate, clients))
    .use(publishingRoutes(gate, clients))
    .use(promptRoutes(gate, clients))
    .use(toolRoutes(gate, clients))
    .use(documentRoutes(gate, clients))
    .use(knowledgeBaseRoutes(gate, clients))
    .use(chatRoutes(gate, clients))
    .use(liveRoutes(gate, clients))
    .use(conversationRoutes(gate, clients))
    .use(testRoutes(gate, clients))
    .use(testRunRoutes(gate, clients))
    .use(replayRoutes(gate, clients))
    .use(recordingRoutes(gate, clients))
    .use(catalogueRoutes(gate, clients))
    .use(callRoutes(gate, clients))
    .use(callBatchRoutes(gate, clients))
    .use(webCallRoutes(gate, clients))
    .use(dailySessionRoutes(gate, clients))
    .use(whatsAppRoutes(gate, clients))
    .use(manageRoutes(gate, clients))
    .use(whipRoutes(gate, clients))
    .use(whepRoutes(gate, clients))
    .use(widgetRoutes(gate, clients))
    .use(whatsAppCallbackRoutes(gate, clients))
    .use(dailyWebhookRoutes(gate, clients))
    .use(carrierCallbackRoutes(gate, clients));
  const app = api.use(healthRoutes(clients, drain)).use(docsRoutes(() => describe(api)));
  if (dashboard) app.use(dashboardRoutes(dashboard)).use(cspReportRoutes(gate));
  const routes = app.routes.map(({ method, path }) => ({ method, form: pathForm(path) }));
  return app.onError(async ({ request, error, code }) => {
    const requestId = requestIdOf(request);
    const page = code === "NOT_FOUND" && dashboard ? await pageFor(dashboard, request) : null;
    if (page) return withHeaders(page, commonHeaders(requestId));
    const path = pathOf(request);
    const methods = routes.filter(({ form }) => form.test(path)).map(({ method }) => method);
    const failure = code === "NOT_FOUND" ? unrouted(request, methods) : error;
    const { status, body, headers } = problemOf(failure, requestId);
    if (status >= 500) gate.log.error({ err: error, request_id: requestId, path }, "request failed");
    return jsonAnswer(status, body, new Headers({ ...headers, ...commonHeaders(requestId) }));
  });
}

function describe(api: { routes: AnyElysia["routes"] }): object {
  return openApiDocument(
    api.routes.flatMap(({ method, path, hooks }) => {
      const operation = operationOf(hooks);
      return operation ? [{ method, path, operation }] : [];
    }),
  );
}

function unrouted({ url }: Request, methods: readonly string[]): HttpError {
  if (!hasHost(url)) return new HttpError(400, "The Host header is missing or not a host");
  if (methods.length === 0) return new HttpError(404, "Not found: no such route");
  // GET routes also answer HEAD.
  const allow = [...new Set(methods.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : method)))]
    .sort()
    .join(", ");
  return new HttpError(405, `Method not allowed. Use ${allow}.`, { Allow: allow });
}

function withHeaders(response: Response, headers: Record<string, string>): Response {
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

/** Matches the paths that a route such as `/agents/:agent_id` serves. */
function pathForm(path: string): RegExp {
  const parts = path.split("/").map((part) => (part.startsWith(":") ? "[^/]+" : RegExp.escape(part)));
  return new RegExp(`^${parts.join("/").replace(/\/$/, "")}/?$`);
}
