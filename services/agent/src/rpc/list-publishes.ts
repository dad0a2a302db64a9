import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { pageOf } from "@parley/shared/page";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { checkAgentId, getAgentRow } from "../read-agents.ts";
import { listPublishRows } from "../store/version-lists.ts";
import { toPublish } from "../versions/publish.ts";

type Handler = NonNullable<Handlers<typeof AgentServiceService>["listPublishes"]>;

export function listPublishes({ db }: AgentContext): Handler {
  return async ({ ownerId, agentId, page }) => {
    checkAgentId(agentId);
    const wanted = pageOf(page);
    await getAgentRow(db, { ownerId, agentId });
    const { rows, total } = await listPublishRows(db, { ownerId, agentId }, wanted);
    return { publishes: rows.map(toPublish), total };
  };
}
