import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import { findStoredBytes } from "@parley/shared/stored-bytes/fold";
import type { ConversationContext } from "../context.ts";
import { daysOf } from "../statistics/days.ts";
import { listUsage } from "../store/usage.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["countUsage"]>;

export function countUsage(ctx: ConversationContext): Handler {
  return async ({ ownerId, from, to }) => {
    const { first, last } = daysOf(from, to);
    const [days, storedBytes] = await Promise.all([
      listUsage(ctx.db, ownerId, first, last),
      findStoredBytes(ctx.db, ownerId),
    ]);
    return { days, storedBytes, storedBytesMax: ctx.limits.ownerBytes };
  };
}
