import { AGENT_TYPES, numberOf } from "@parley/shared/domain/api-names";
import { STARTING_MS } from "@parley/shared/domain/start-webhook";
import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import type { GateContext } from "../gate.ts";
import { readDate } from "../http/date.ts";
import { presentAgent, presentTriedStartWebhook, presentVariable } from "../present/agent.ts";
import { pageFigures, pageOf } from "../present/page.ts";
import { required } from "../present/required.ts";
import {
  CreateAgentBody,
  CreateAgentQuery,
  GetAgentQuery,
  ListAgentsQuery,
  UpdateAgentBody,
  UpdateAgentQuery,
} from "../schemas/agents/requests.ts";
import { Agent, AgentDeleted, AgentList, DynamicVariables } from "../schemas/agents/shown.ts";
import { TriedStartWebhook, TryStartWebhookBody } from "../schemas/agents/start-question.ts";
import { createAgentRequest, updateAgentRequest } from "./agent-request.ts";
import { draftIdOf } from "./draft.ts";
import { endpoints } from "./endpoint.ts";
import { inVersion } from "./version.ts";

export function agentRoutes(gate: GateContext, { agents, conversations, readAgent }: Clients) {
  const route = endpoints(gate, { tag: "Agents" });
  return new Elysia({ prefix: "/v1/public/agents" })
    .post(
      "/",
      ...route(
        {
          id: "createAgent",
          summary: "Create an agent",
          scope: "agents:write",
          query: CreateAgentQuery,
          body: CreateAgentBody,
          response: Agent,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, query, body, idempotency, write }) => {
          const request = {
            ...createAgentRequest(ownerId, body),
            moveNumbers: query.move_numbers === true,
            copiedAgentId: query.copy_of,
            idempotency,
          };
          const { agent } = await agents.createAgent(request, write);
          return presentAgent(required(agent));
        },
      ),
    )
    .get(
      "/",
      ...route(
        {
          id: "listAgents",
          summary: "List agents, newest first",
          scope: "agents:read",
          query: ListAgentsQuery,
          isList: true,
          response: AgentList,
        },
        async ({ ownerId, query, origin }) => {
          const page = pageOf(query);
          const { agents: found, total } = await agents.listAgents(
            {
              ownerId,
              page,
              search: query.search ?? "",
              agentType: numberOf(AGENT_TYPES, query.agent_type),
              agentCategory: query.agent_category ?? "",
            },
            { origin },
          );
          return { agents: found.map(presentAgent), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/:agent_id",
      ...route(
        {
          id: "getAgent",
          summary: "Get an agent",
          scope: "agents:read",
          query: GetAgentQuery,
          response: Agent,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, query, origin }) => {
          const newest = await readAgent({ ownerId, agentId: params.agent_id ?? "" });
          return presentAgent(await inVersion({ agents }, newest, query.agent_version ?? "latest", origin));
        },
      ),
    )
    .patch(
      "/:agent_id",
      ...route(
        {
          id: "updateAgent",
          summary: "Change an agent",
          scope: "agents:write",
          query: UpdateAgentQuery,
          body: UpdateAgentBody,
          response: Agent,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, query, body, idempotency, write }) => {
          const given = updateAgentRequest(ownerId, params.agent_id ?? "", body);
          const ifUpdatedAt =
            query.if_updated_at === undefined ? undefined : readDate("if_updated_at", query.if_updated_at);
          const request = { ...given, moveNumbers: query.move_numbers === true, ifUpdatedAt, idempotency };
          const { agent } = await agents.updateAgent(request, write);
          return presentAgent(required(agent));
        },
      ),
    )
    .delete(
      "/:agent_id",
      ...route(
        {
          id: "deleteAgent",
          summary: "Delete an agent",
          scope: "agents:write",
          response: AgentDeleted,
          refuses: ["not_found", "conflict"],
        },
        async ({ ownerId, params, idempotency, write }) => {
          const agentId = params.agent_id ?? "";
          const { agentName, deletedAt } = await agents.deleteAgent({ ownerId, agentId, idempotency }, write);
          return { message: "Agent deleted", agent_id: agentId, agent_name: agentName, deleted_at: deletedAt };
        },
      ),
    )
    .get(
      "/:agent_id/dynamic-variables",
      ...route(
        {
          id: "listDynamicVariables",
          summary: "List the variables an agent expects",
          scope: "agents:read",
          response: DynamicVariables,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const agentId = params.agent_id ?? "";
          const { agentName, dynamicVariables } = await agents.listDynamicVariables({ ownerId, agentId }, { origin });
          return { agent_id: agentId, agent_name: agentName, dynamic_variables: dynamicVariables.map(presentVariable) };
        },
      ),
    )
    .post(
      "/:agent_id/start-webhook/try",
      ...route(
        {
          id: "tryStartWebhook",
          summary: "Ask an agent's start webhook about a sample",
          description:
            "Every request asks, also a repeated one with the same `Idempotency-Key`. No conversation begins.",
          scope: "agents:write",
          body: TryStartWebhookBody,
          response: TriedStartWebhook,
          refuses: ["condition", "not_found"],
        },
        async (admitted) => {
          const { ownerId, params, body, origin } = admitted;
          const agentId = params.agent_id ?? "";
          const trying = { agent_id: agentId, draft: body.draft, asks_start_webhook: true };
          const request = {
            ownerId,
            agentId,
            draftId: await draftIdOf(agents, { ...admitted, body: trying }),
            channel: body.channel ?? "chat",
            metadata: body.metadata ?? undefined,
            dynamicVariables: body.dynamic_variables ?? undefined,
          };
          const tried = await conversations.tryStartWebhook(request, { origin, timeoutMs: STARTING_MS });
          return presentTriedStartWebhook(tried);
        },
      ),
    );
}
