import { notFound } from "@parley/shared/errors";
import type { AgentContext, Handler } from "../context.ts";
import { toAgent } from "../convert.ts";
import { checkAgentId, getVersion } from "../read-agents.ts";
import { findListedVersion } from "../store/version-lists.ts";
import { toTool } from "../tools/tool-rows.ts";

export function getAgentVersion({ db }: AgentContext): Handler<"getAgentVersion"> {
  return async ({ ownerId, agentId, agentVersion }) => {
    checkAgentId(agentId);
    // Others stand for the published and the newest version.
    if (agentVersion < 1) throw notFound("Agent version");
    const version = await getVersion(db, { ownerId, agentId }, agentVersion);
    const listed = await findListedVersion(db, { ownerId, agentId }, agentVersion);
    if (!listed) throw notFound("Agent version");
    return {
      version: {
        ...listed,
        note: listed.note ?? undefined,
        agent: toAgent(version),
        analysisPrompt: version.analysisPrompt,
        tools: version.tools.map(toTool),
      },
    };
  };
}
