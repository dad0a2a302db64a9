import { Access, type AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { toAgent } from "../convert.ts";
import { readVersions } from "../read-agents.ts";
import { findShownVersions, LATEST } from "../store/versions.ts";

export function batchGetAgents({
  db,
}: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["batchGetAgents"]> {
  return async ({ keys }) => {
    const newest = keys.map((key) => ({ ...key, agentVersion: LATEST }));
    return {
      results: (await readVersions(db, newest, findShownVersions)).map((read) =>
        typeof read === "number"
          ? { access: read, agent: undefined }
          : { access: Access.ACCESS_GRANTED, agent: toAgent(read) },
      ),
    };
  };
}
