import { nullIfNotFound } from "@parley/shared/errors";
import { pageOf } from "@parley/shared/page";
import type { ConversationContext, Handler } from "../context.ts";
import { toSummary } from "../convert.ts";
import { listConversationRows } from "../lists/list-conversations.ts";
import { NO_FILTER } from "../store/lists/conversation-filter.ts";

export function listChatSessions(ctx: ConversationContext): Handler<"listChatSessions"> {
  return async ({ ownerId, agentId, page }) => {
    const wanted = pageOf(page);
    if (agentId !== "") await refuseForeign(ctx, ownerId, agentId);
    const filter = { ...NO_FILTER, ownerId, agentId, type: "CHAT" as const };
    const { rows, total } = await ctx.readLists((db) => listConversationRows(db, filter, wanted, ctx.clock.now()));
    return { sessions: rows.map(toSummary), total };
  };
}

/** Refuses another owner's agent. A deleted agent's sessions are still listed. */
async function refuseForeign(ctx: ConversationContext, ownerId: string, agentId: string): Promise<void> {
  await ctx.agents.check(ownerId, agentId).catch(nullIfNotFound);
}
