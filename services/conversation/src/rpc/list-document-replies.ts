import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { pageOf } from "@parley/shared/page";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { listDocumentReplyRows } from "../store/lists/document-replies.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["listDocumentReplies"]>;

export function listDocumentReplies(ctx: ConversationContext): Handler {
  return async ({ ownerId, documentId, page }) => {
    const { rows, total } = await ctx.readLists((db) => listDocumentReplyRows(db, ownerId, documentId, pageOf(page)));
    return { replies: rows, total };
  };
}
