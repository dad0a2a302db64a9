import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { isUuid } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { callingTypeName, statusName, toConversation, typeName } from "../convert.ts";
import { listConversationRows } from "../store/list-conversations.ts";
import { listTranscripts } from "../store/messages.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["listConversations"]>;

export function listConversations(ctx: ConversationContext): Handler {
  return async (request, call) => {
    const { ownerId, conversationId, search, agentId, timeOfDay } = request;
    if (conversationId !== "" && !isUuid(conversationId)) return { conversations: [], total: 0 };
    const filter = {
      ownerId,
      search,
      conversationId,
      agentId,
      type: typeName(request.type),
      callingType: callingTypeName(request.callingType),
      status: statusName(request.status),
      from: request.from ?? null,
      to: request.to ?? null,
      timeOfDay: timeOfDay ? { from: timeOfDay.fromMinute, to: timeOfDay.toMinute } : null,
    };
    const page = request.page ?? { number: 1, size: 10 };
    const list = () =>
      ctx.readLists(async (db) => {
        const found = await listConversationRows(db, filter, page, ctx.clock.now());
        const ids = found.rows.map((row) => row.conversationId);
        return { ...found, transcripts: await listTranscripts(db, ownerId, ids) };
      });
    const { rows, total, transcripts } = await (search === ""
      ? list()
      : ctx.searchFewAtOnce(ownerId, call.signal, list));
    return {
      conversations: rows.map((row) => toConversation(row, transcripts.get(row.conversationId) ?? [])),
      total,
    };
  };
}
