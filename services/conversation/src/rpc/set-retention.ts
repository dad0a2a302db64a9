import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { ConversationContext } from "../context.ts";
import { setRetention as storeRetention } from "../store/retention.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["setRetention"]>;

/** Once this returns, older conversations are hidden; the sweep deletes them (retention/retention.ts). */
export function setRetention(ctx: ConversationContext): Handler {
  return async ({ ownerId, retentionDays, revision }) => {
    if (retentionDays !== undefined && (retentionDays < 1 || retentionDays > 3650)) {
      throw invalid("retention_days", "retention_days must be from 1 to 3650");
    }
    await storeRetention(ctx.db, ownerId, retentionDays ?? null, revision);
    return {};
  };
}
