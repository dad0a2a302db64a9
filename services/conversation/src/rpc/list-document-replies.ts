import { pageOf } from "@parley/shared/page";
import type { ConversationContext, Handler } from "../context.ts";
import { listDocumentReplyRows } from "../store/lists/document-replies.ts";

export function listDocumentReplies(ctx: ConversationContext): Handler<"listDocumentReplies"> {
  return async ({ ownerId, documentId, page }) => {
    const { rows, total } = await ctx.readLists((db) => listDocumentReplyRows(db, ownerId, documentId, pageOf(page)));
    return { replies: rows, total };
  };
}
