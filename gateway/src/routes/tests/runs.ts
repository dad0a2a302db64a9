import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { runEvents } from "../../live/run-events.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import { presentListedRun, presentRun } from "../../present/tests.ts";
import { GetRunQuery, ListRunsQuery, RunTestsBody } from "../../schemas/tests/requests.ts";
import { TestRun, TestRunList } from "../../schemas/tests/shown.ts";
import { endpoints } from "../endpoint.ts";
import { testedVersionOf } from "../version.ts";
import { microsOf } from "./test-request.ts";

const EVENTS = "text/event-stream";

/** Runs of tests against a version of their agent. */
export function testRunRoutes(gate: GateContext, { agents }: Clients) {
  const route = endpoints(gate, { tag: "Tests" });
  return new Elysia({ prefix: "/v1/public/agents/:agent_id/tests" })
    .post(
      "/run",
      ...route(
        {
          id: "runTests",
          summary: "Run tests against a version",
          description:
            "Answers at once; the conversations are held in the background, at most four of an account at a time. They are stored and marked, and count neither as usage nor in statistics.",
          scope: "tests:run",
          body: RunTestsBody,
          isBodyOptional: true,
          response: TestRun,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, body, idempotency, write }) => {
          const { run } = await agents.runTests(
            {
              ...{ ownerId, agentId: params.agent_id ?? "", agentVersion: testedVersionOf(body) },
              tests: body.tests ?? [],
              maxCostUsdMicros: microsOf(body.max_cost_usd),
              allowUnpriced: body.unpriced === "allow",
              idempotency,
            },
            write,
          );
          return presentRun(required(run));
        },
      ),
    )
    .get(
      "/runs",
      ...route(
        {
          id: "listTestRuns",
          summary: "List the runs of an agent's tests, newest first",
          description:
            "Without the attempts of tests: get one run for them. Runs are kept for 30 days, the newest 50 of an agent.",
          scope: "tests:read",
          query: ListRunsQuery,
          response: TestRunList,
          isList: true,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const page = pageOf(query);
          const { runs, total } = await agents.listTestRuns(
            { ownerId, agentId: params.agent_id ?? "", page },
            { origin },
          );
          return { runs: runs.map(presentListedRun), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/runs/:run_id",
      ...route(
        {
          id: "getTestRun",
          summary: "Get a run with its transcripts",
          scope: "tests:read",
          query: GetRunQuery,
          response: TestRun,
          isList: true,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const key = { ownerId, agentId: params.agent_id ?? "", runId: params.run_id ?? "" };
          const { run } = await agents.getTestRun({ ...key, testId: query.test_id ?? "" }, { origin });
          return presentRun(required(run));
        },
      ),
    )
    .post(
      "/runs/:run_id/cancel",
      ...route(
        {
          id: "cancelTestRun",
          summary: "Cancel a run",
          description:
            "Conversations under way end before their next turn; what they have cost by then is added. A run that has ended stays as it is. A replay is cancelled in the same way, by its ID.",
          scope: "tests:run",
          response: TestRun,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const key = { ownerId, agentId: params.agent_id ?? "", runId: params.run_id ?? "" };
          const { run } = await agents.cancelTestRun({ ...key, idempotency }, write);
          return presentRun(required(run));
        },
      ),
    )
    .get(
      "/runs/:run_id/events",
      ...route(
        {
          id: "watchTestRun",
          summary: "Watch a run",
          description:
            "Server-sent events: `run`, with the run without transcripts, at first and after each change, and `ended` with the whole run.",
          scope: "tests:read",
          streamed: {
            forms: { [EVENTS]: "The events `run` and `ended`, each with the run." },
            choice: "The events, as they happen. A comment every 15 seconds keeps the connection open.",
          },
          refuses: ["not_found"],
        },
        async (admitted) => {
          const { ownerId, params, request, headers, origin } = admitted;
          const key = { ownerId, agentId: params.agent_id ?? "", runId: params.run_id ?? "" };
          if (request.method === "HEAD") {
            await agents.getTestRun({ ...key, testId: "" }, { origin });
            headers.set("Content-Type", `${EVENTS}; charset=utf-8`);
            return new Response(null, { headers });
          }
          return runEvents(gate, agents, key, admitted);
        },
      ),
    );
}
