import type { Sql } from "@parley/shared/db/database";
import { MESSAGE_DELIVERIES, nameOf } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { isUuid } from "@parley/shared/ids";
import { isLonger } from "@parley/shared/text/length";
import type { ConversationContext, Handler } from "../context.ts";
import { insertEvent } from "../store/events/owner-events.ts";
import { setDelivery as storeDelivery } from "../store/messages.ts";
import { storable } from "../store/storable.ts";

const ERROR_CODE_MAX = 100;

/** Does nothing for a message that does not exist anymore: a status may come after the conversation was deleted. */
export function setDelivery(ctx: ConversationContext): Handler<"setDelivery"> {
  return async ({ ownerId, conversationId, sequence: seq, delivery }) => {
    const status = delivery && nameOf(MESSAGE_DELIVERIES, delivery.status);
    if (!status) throw invalid("delivery.status", "delivery.status must be SENT, DELIVERED, READ or FAILED");
    if (!isUuid(conversationId)) throw invalid("conversation_id", "conversation_id must be a UUID");
    const errorCode = status === "failed" ? delivery.errorCode : undefined;
    if (errorCode !== undefined && isLonger(errorCode, ERROR_CODE_MAX))
      throw invalid("delivery.error_code", `delivery.error_code must be at most ${ERROR_CODE_MAX} characters`);
    const key = { ownerId, conversationId };
    const store = (sql: Sql) => storeDelivery(sql, { ...key, seq }, status, errorCode ? storable(errorCode) : null);
    if (status !== "failed") await store(ctx.db);
    else
      await ctx.db.begin(async (tx) => {
        if (!(await store(tx))) return;
        const happenedAt = ctx.clock.now();
        await insertEvent(tx, { ...key, event: "message.failed", about: String(seq), happenedAt });
      });
    return {};
  };
}
