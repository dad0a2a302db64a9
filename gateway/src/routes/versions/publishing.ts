import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { Admitted, GateContext } from "../../gate.ts";
import { presentPublish, presentPublished, presentShare } from "../../present/agent-version.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import {
  ListPublishesQuery,
  PublishDone,
  PublishList,
  PublishVersionBody,
  SetTrafficBody,
  Traffic,
} from "../../schemas/agents/versions.ts";
import { endpoints } from "../endpoint.ts";
import { versionNumber } from "./version-number.ts";

/** Which versions of an agent new conversations get. */
export function publishingRoutes(gate: GateContext, { agents }: Clients) {
  const route = endpoints(gate, { tag: "Agents" });
  return new Elysia({ prefix: "/v1/public/agents/:agent_id" })
    .post(
      "/versions/:agent_version/publish",
      ...route(
        {
          id: "publishAgentVersion",
          summary: "Publish a version of an agent, or roll back to it",
          description: "New conversations get the version; those in progress keep theirs. It ends a split of traffic.",
          scope: "agents:write",
          body: PublishVersionBody,
          isBodyOptional: true,
          response: PublishDone,
          refuses: ["not_found", "conflict"],
        },
        async (admitted) => {
          const { ownerId, params, write } = admitted;
          const agentVersion = versionNumber(params.agent_version);
          const request = { ownerId, agentId: params.agent_id ?? "", agentVersion, ...how(admitted) };
          return presentPublished(await agents.publishAgentVersion(request, write));
        },
      ),
    )
    .get(
      "/publishes",
      ...route(
        {
          id: "listAgentPublishes",
          summary: "List what was published of an agent, newest first",
          scope: "agents:read",
          query: ListPublishesQuery,
          isList: true,
          response: PublishList,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const page = pageOf(query);
          const request = { ownerId, agentId: params.agent_id ?? "", page };
          const { publishes, total } = await agents.listPublishes(request, { origin });
          return { publishes: publishes.map(presentPublish), ...pageFigures(total, page) };
        },
      ),
    )
    .get(
      "/traffic",
      ...route(
        {
          id: "getAgentTraffic",
          summary: "Get the versions that an agent's new conversations get",
          scope: "agents:read",
          response: Traffic,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin }) => {
          const { split } = await agents.getTraffic({ ownerId, agentId: params.agent_id ?? "" }, { origin });
          return { split: split.map(presentShare) };
        },
      ),
    )
    .put(
      "/traffic",
      ...route(
        {
          id: "setAgentTraffic",
          summary: "Split an agent's new conversations between versions",
          description:
            "A caller stays with a version, and a change moves as few callers as possible. Publishing ends the split.",
          scope: "agents:write",
          body: SetTrafficBody,
          response: PublishDone,
          refuses: ["not_found", "conflict"],
        },
        async (admitted) => {
          const { ownerId, params, body, write } = admitted;
          const split = body.split.map(({ agent_version, weight }) => ({ agentVersion: agent_version, weight }));
          const request = { ownerId, agentId: params.agent_id ?? "", split, ...how(admitted) };
          return presentPublished(await agents.setTraffic(request, write));
        },
      ),
    );
}

interface Given {
  note?: string | null;
  override?: { reason: string } | null;
}

/** @throws ServiceError forbidden for an override by a key that may not */
function how({
  body,
  idempotency,
  requireScope,
}: Pick<Admitted<Given, unknown>, "body" | "idempotency" | "requireScope">) {
  if (body.override) requireScope("agents:override");
  return { note: body.note ?? undefined, override: body.override ?? undefined, idempotency };
}
