import { CALLING_TYPES, CONVERSATION_STATUSES, CONVERSATION_TYPES, nameOf } from "@parley/shared/domain/api-names";
import { isUuid } from "@parley/shared/ids";
import { pageOf } from "@parley/shared/page";
import type { ConversationContext, Handler } from "../context.ts";
import { toConversation } from "../convert.ts";
import { listConversationRows } from "../lists/list-conversations.ts";
import { inParts } from "../lists/read-transcript.ts";
import { listTranscriptsOfPage, listUsageOfPage } from "../store/messages.ts";

export function listConversations(ctx: ConversationContext): Handler<"listConversations"> {
  return async (request) => {
    const { ownerId, conversationId, search, agentId, timeOfDay } = request;
    const page = pageOf(request.page);
    if (conversationId !== "" && !isUuid(conversationId)) return { conversations: [], total: 0 };
    const filter = {
      ownerId,
      search,
      conversationId,
      agentId,
      agentVersion: request.agentVersion ?? null,
      type: nameOf(CONVERSATION_TYPES, request.type) ?? null,
      callingType: nameOf(CALLING_TYPES, request.callingType) ?? null,
      status: nameOf(CONVERSATION_STATUSES, request.status) ?? null,
      isTest: request.isTestCall ?? null,
      from: request.from ?? null,
      to: request.to ?? null,
      timeOfDay: timeOfDay ? { from: timeOfDay.fromMinute, to: timeOfDay.toMinute } : null,
    };
    const { rows, total, transcripts, usages } = await ctx.readLists(async (db) => {
      const found = await listConversationRows(db, filter, page, ctx.clock.now());
      const ids = found.rows.map((row) => row.conversationId);
      const [transcripts, usages] = await Promise.all([
        listTranscriptsOfPage(db, ownerId, ids),
        request.withUsage ? listUsageOfPage(db, ownerId, ids) : undefined,
      ]);
      return { ...found, transcripts, usages };
    });
    return {
      conversations: rows.map((row) =>
        toConversation(
          row,
          (transcripts.get(row.conversationId) ?? []).flatMap(inParts),
          usages?.get(row.conversationId),
        ),
      ),
      total,
    };
  };
}
