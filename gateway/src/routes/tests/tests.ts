import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { readDate } from "../../http/date.ts";
import { required } from "../../present/required.ts";
import { presentTest } from "../../present/tests.ts";
import {
  CreateTestBody,
  TestFromConversationBody,
  UpdateTestBody,
  UpdateTestQuery,
} from "../../schemas/tests/requests.ts";
import { Test, TestDeleted, TestList } from "../../schemas/tests/shown.ts";
import { endpoints } from "../endpoint.ts";
import { definitionOf } from "./test-request.ts";

/** More than reading the conversation may take. */
const READ_TIMEOUT_MS = 25_000;

/** The tests of agents (docs/testing-agents.md). */
export function testRoutes(gate: GateContext, { agents }: Clients) {
  const route = endpoints(gate, { tag: "Tests" });
  return new Elysia({ prefix: "/v1/public/agents/:agent_id/tests" })
    .post(
      "/",
      ...route(
        {
          id: "createTest",
          summary: "Create a test of an agent",
          scope: "agents:write",
          body: CreateTestBody,
          response: Test,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, body, idempotency, write }) => {
          const agentId = params.agent_id ?? "";
          const { name, required: isRequired } = body;
          const given = { ownerId, agentId, name, required: isRequired ?? false, definition: definitionOf(body) };
          const { test } = await agents.createTest({ ...given, idempotency }, write);
          return presentTest(agentId, required(test));
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listTests",
          summary: "List the tests of an agent, by name",
          description: "Numbers in names sort as people count: T2 comes before T10.",
          scope: "tests:read",
          response: TestList,
          isList: true,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const agentId = params.agent_id ?? "";
          const { tests } = await agents.listTests({ ownerId, agentId }, { origin });
          return { tests: tests.map((test) => presentTest(agentId, test)) };
        },
      ),
    )
    .post(
      "/from-conversation",
      ...route(
        {
          id: "createTestFromConversation",
          summary: "Make a test of a conversation",
          description:
            "The user's messages become a script and the results of tools become mocks. The test expects the tool calls that the agent made, or without any a last reply with the same meaning. A key needs the scope `conversations:read` too.",
          scope: "agents:write",
          body: TestFromConversationBody,
          response: Test,
          refuses: ["condition", "forbidden", "not_found", "conflict"],
        },
        async ({ ownerId, params, body, idempotency, write, requireScope }) => {
          requireScope("conversations:read");
          const agentId = params.agent_id ?? "";
          const { conversation_id: conversationId, name } = body;
          const { test } = await agents.createTestFromConversation(
            { ownerId, agentId, conversationId, name: name ?? undefined, idempotency },
            { ...write, timeoutMs: READ_TIMEOUT_MS },
          );
          return presentTest(agentId, required(test));
        },
      ),
    )
    .get(
      "/:test_id",
      ...route(
        {
          id: "getTest",
          summary: "Get a test",
          scope: "tests:read",
          response: Test,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const agentId = params.agent_id ?? "";
          const { test } = await agents.getTest({ ownerId, agentId, testId: params.test_id ?? "" }, { origin });
          return presentTest(agentId, required(test));
        },
      ),
    )
    .patch(
      "/:test_id",
      ...route(
        {
          id: "updateTest",
          summary: "Change a test",
          scope: "agents:write",
          query: UpdateTestQuery,
          body: UpdateTestBody,
          response: Test,
          refuses: ["forbidden", "not_found", "conflict"],
        },
        async ({ ownerId, params, query, body, idempotency, write, hasScope }) => {
          const agentId = params.agent_id ?? "";
          const ifUpdatedAt =
            query.if_updated_at === undefined ? undefined : readDate("if_updated_at", query.if_updated_at);
          const { test } = await agents.updateTest(
            {
              ...{ ownerId, agentId, testId: params.test_id ?? "", name: body.name, required: body.required },
              definition: definitionOf(body),
              mayOverride: hasScope("agents:override"),
              ifUpdatedAt,
              idempotency,
            },
            write,
          );
          return presentTest(agentId, required(test));
        },
      ),
    )
    .delete(
      "/:test_id",
      ...route(
        {
          id: "deleteTest",
          summary: "Delete a test",
          description:
            "To delete a required test, a key needs the scope `agents:override`. The results of its runs stay.",
          scope: "agents:write",
          response: TestDeleted,
          refuses: ["forbidden", "not_found"],
        },
        async ({ ownerId, params, idempotency, write, hasScope }) => {
          const [agentId, testId] = [params.agent_id ?? "", params.test_id ?? ""];
          const mayOverride = hasScope("agents:override");
          const { name, deletedAt } = await agents.deleteTest(
            { ownerId, agentId, testId, mayOverride, idempotency },
            write,
          );
          return { message: "Test deleted", test_id: testId, name, deleted_at: deletedAt };
        },
      ),
    );
}
