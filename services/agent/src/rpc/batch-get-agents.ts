import { Access } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { AgentContext, Handler } from "../context.ts";
import { toAgent } from "../convert.ts";
import { readVersions } from "../read-agents.ts";
import { findShownVersions, LATEST } from "../store/versions.ts";

export function batchGetAgents({ db }: AgentContext): Handler<"batchGetAgents"> {
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
