import { findStoredBytes } from "@parley/shared/stored-bytes/fold";
import type { ConversationContext, Handler } from "../context.ts";
import { daysOf } from "../statistics/days.ts";
import { listUsage } from "../store/usage.ts";

export function countUsage(ctx: ConversationContext): Handler<"countUsage"> {
  return async ({ ownerId, from, to }) => {
    const { first, last } = daysOf(from, to);
    const [days, storedBytes] = await Promise.all([
      listUsage(ctx.db, ownerId, first, last),
      findStoredBytes(ctx.db, ownerId),
    ]);
    return { days, storedBytes, storedBytesMax: ctx.limits.ownerBytes };
  };
}
