import { AgentVersion } from "@parley/proto/parley/agent/v1/agent.ts";
import { pageOf } from "@parley/shared/page";
import type { AgentContext, Handler } from "../context.ts";
import { checkAgentId, getAgentRow } from "../read-agents.ts";
import { listVersions } from "../store/version-lists.ts";

export function listAgentVersions({ db }: AgentContext): Handler<"listAgentVersions"> {
  return async ({ ownerId, agentId, page }) => {
    checkAgentId(agentId);
    const wanted = pageOf(page);
    await getAgentRow(db, { ownerId, agentId });
    const { rows, total } = await listVersions(db, { ownerId, agentId }, wanted);
    return {
      versions: rows.map(({ note, ...row }) => AgentVersion.fromPartial({ ...row, note: note ?? undefined })),
      total,
    };
  };
}
