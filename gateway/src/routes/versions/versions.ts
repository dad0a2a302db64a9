import type { VersionFigures } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { periodOf } from "../../http/period.ts";
import { diffOfVersions, presentListedVersion, presentVersion } from "../../present/agent-version.ts";
import { pageFigures, pageOf } from "../../present/page.ts";
import { required } from "../../present/required.ts";
import { presentDifferences, presentVersionFigures } from "../../present/version-figures.ts";
import {
  AgentVersion,
  AgentVersionComparison,
  AgentVersionDiff,
  AgentVersionList,
  CompareVersionsQuery,
  ListAgentVersionsQuery,
} from "../../schemas/agents/versions.ts";
import { endpoints } from "../endpoint.ts";
import { versionNumber } from "./version-number.ts";

/** What versions of an agent are, and how their conversations go. */
export function versionRoutes(gate: GateContext, { agents, conversations }: Clients) {
  const route = endpoints(gate, { tag: "Agents" });
  const versionOf = async (ownerId: string, agentId = "", number: string | undefined, origin: CallOrigin) => {
    const agentVersion = versionNumber(number);
    return required((await agents.getAgentVersion({ ownerId, agentId, agentVersion }, { origin })).version);
  };
  /** Versions are listed, and can be published, while the conversation service is away. */
  const figuresIfThere = (request: Parameters<typeof conversations.getVersionFigures>[0], origin: CallOrigin) =>
    conversations.getVersionFigures(request, { origin }).catch((error: unknown) => {
      if (error instanceof ServiceError && ["unavailable", "deadline"].includes(error.kind))
        return { figures: [] as VersionFigures[] };
      throw error;
    });
  return new Elysia({ prefix: "/v1/public/agents/:agent_id/versions" })
    .get(
      "/",
      ...route(
        {
          id: "listAgentVersions",
          summary: "List the versions of an agent with their figures, newest first",
          scope: "agents:read",
          query: ListAgentVersionsQuery,
          isList: true,
          response: AgentVersionList,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const page = pageOf(query);
          const agentId = params.agent_id ?? "";
          const period = daysOf(query, gate.clock.now());
          const { versions, total } = await agents.listAgentVersions({ ownerId, agentId, page }, { origin });
          const agentVersions = versions.map(({ agentVersion }) => agentVersion);
          const wanted = { ownerId, agentId, agentVersions, ...period };
          const { figures } = versions.length > 0 ? await figuresIfThere(wanted, origin) : { figures: [] };
          return {
            versions: versions.map((version, at) => ({
              ...presentListedVersion(version),
              figures: figures[at] ? presentVersionFigures(figures[at], query.include === "cost") : null,
            })),
            ...pageFigures(total, page),
          };
        },
      ),
    )
    .get(
      "/:agent_version",
      ...route(
        {
          id: "getAgentVersion",
          summary: "Get a version of an agent with its prompts and tools",
          scope: "agents:read",
          isList: true,
          response: AgentVersion,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin, hasScope }) =>
          presentVersion(
            await versionOf(ownerId, params.agent_id, params.agent_version, origin),
            hasScope("tools:read"),
          ),
      ),
    )
    .get(
      "/:agent_version/diff/:other_version",
      ...route(
        {
          id: "diffAgentVersions",
          summary: "Show what changed between two versions of an agent",
          scope: "agents:read",
          isList: true,
          response: AgentVersionDiff,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, origin, hasScope }) => {
          const [from, to] = await Promise.all([
            versionOf(ownerId, params.agent_id, params.agent_version, origin),
            versionOf(ownerId, params.agent_id, params.other_version, origin),
          ]);
          const changes = await diffOfVersions(from, to, hasScope("tools:read"));
          return { from: from.agentVersion, to: to.agentVersion, changes };
        },
      ),
    )
    .get(
      "/:agent_version/compare/:other_version",
      ...route(
        {
          id: "compareAgentVersions",
          summary: "Compare the figures of two versions of an agent",
          description: "Differences are of the second version from the first, with confidence intervals of 95 %.",
          scope: "agents:read",
          query: CompareVersionsQuery,
          isList: true,
          response: AgentVersionComparison,
          refuses: ["not_found"],
        },
        async ({ ownerId, params, query, origin }) => {
          const withCosts = query.include === "cost";
          const period = daysOf(query, gate.clock.now());
          const [one, other] = await Promise.all([
            versionOf(ownerId, params.agent_id, params.agent_version, origin),
            versionOf(ownerId, params.agent_id, params.other_version, origin),
          ]);
          const wanted = { ownerId, agentId: params.agent_id ?? "", a: one.agentVersion, b: other.agentVersion };
          const compared = await conversations.compareVersions({ ...wanted, ...period }, { origin });
          const shown = (figures: VersionFigures | undefined) => ({
            agent_version: required(figures).agentVersion,
            figures: presentVersionFigures(required(figures), withCosts),
          });
          return {
            a: shown(compared.a),
            b: shown(compared.b),
            differences: presentDifferences(compared.differences, withCosts),
          };
        },
      ),
    );
}

/** Without days, all count. @throws ServiceError invalid as periodOf does */
function daysOf(
  { from, to }: { from?: string; to?: string },
  now: Date,
): { from: Date | undefined; to: Date | undefined } {
  if (from === undefined && to === undefined) return { from, to };
  const { first, end } = periodOf({ ...(from && { from }), ...(to && { to }) }, now);
  return { from: first, to: end };
}
