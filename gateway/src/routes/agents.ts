import { Elysia } from "elysia";
import type { Clients } from "../clients.ts";
import { type GateContext, gated } from "../gate.ts";
import { presentAgent, presentVariable } from "../present/agent.ts";
import { pageFigures, pageOf } from "../present/page.ts";
import { required } from "../present/required.ts";
import { CreateAgentBody, ListAgentsQuery, UpdateAgentBody } from "../schemas/agents.ts";
import { agentTypeOf, createAgentRequest, updateAgentRequest } from "./agent-request.ts";

export function agentRoutes(gate: GateContext, { agents, getAgent }: Clients) {
  return new Elysia({ prefix: "/v1/public/agents" })
    .post(
      "/",
      gated(gate, { scope: "agents:write", body: CreateAgentBody }, async ({ ownerId, body, idempotency, write }) => {
        const { agent } = await agents.createAgent({ ...createAgentRequest(ownerId, body), idempotency }, write);
        return presentAgent(required(agent));
      }),
      { parse: "none" },
    )
    .get(
      "/",
      gated(gate, { scope: "agents:read", query: ListAgentsQuery }, async ({ ownerId, query, origin }) => {
        const page = pageOf(query);
        const { agents: found, total } = await agents.listAgents(
          {
            ownerId,
            page,
            search: query.search ?? "",
            agentType: agentTypeOf(query.agent_type),
            agentCategory: query.agent_category ?? "",
          },
          { origin },
        );
        return { agents: found.map(presentAgent), ...pageFigures(total, page) };
      }),
    )
    .get(
      "/:agent_id",
      gated(gate, { scope: "agents:read" }, async ({ ownerId, params }) =>
        presentAgent(await getAgent(ownerId, params.agent_id ?? "")),
      ),
    )
    .patch(
      "/:agent_id",
      gated(
        gate,
        { scope: "agents:write", body: UpdateAgentBody },
        async ({ ownerId, params, body, idempotency, write }) => {
          const request = { ...updateAgentRequest(ownerId, params.agent_id ?? "", body), idempotency };
          const { agent } = await agents.updateAgent(request, write);
          return presentAgent(required(agent));
        },
      ),
      { parse: "none" },
    )
    .delete(
      "/:agent_id",
      gated(gate, { scope: "agents:write" }, async ({ ownerId, params, idempotency, write }) => {
        const agentId = params.agent_id ?? "";
        const { agentName, deletedAt } = await agents.deleteAgent({ ownerId, agentId, idempotency }, write);
        return { message: "Agent deleted", agent_id: agentId, agent_name: agentName, deleted_at: deletedAt };
      }),
      { parse: "none" },
    )
    .get(
      "/:agent_id/dynamic-variables",
      gated(gate, { scope: "agents:read" }, async ({ ownerId, params, origin }) => {
        const agentId = params.agent_id ?? "";
        const { agentName, dynamicVariables } = await agents.listDynamicVariables({ ownerId, agentId }, { origin });
        return { agent_id: agentId, agent_name: agentName, dynamic_variables: dynamicVariables.map(presentVariable) };
      }),
    );
}
