import { pageOf } from "@parley/shared/page";
import type { AgentContext, Handler } from "../context.ts";
import { checkAgentId, getAgentRow } from "../read-agents.ts";
import { listPublishRows } from "../store/version-lists.ts";
import { toPublish } from "../versions/publish.ts";

export function listPublishes({ db }: AgentContext): Handler<"listPublishes"> {
  return async ({ ownerId, agentId, page }) => {
    checkAgentId(agentId);
    const wanted = pageOf(page);
    await getAgentRow(db, { ownerId, agentId });
    const { rows, total } = await listPublishRows(db, { ownerId, agentId }, wanted);
    return { publishes: rows.map(toPublish), total };
  };
}
