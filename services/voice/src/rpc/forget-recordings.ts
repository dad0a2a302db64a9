import type { Database } from "@parley/shared/db/database";
import { isUuid } from "@parley/shared/ids";
import type { Handler } from "../feature.ts";
import { forgetEndedCalls } from "../store/forgotten-calls.ts";

/** Deletes the recordings and calls of conversations that are deleted (docs/api-reference.md#retention). */
export function forgetRecordings(ctx: {
  db: Database;
  /** Has a job delete recordings. */
  remove(ownerId: string, conversationIds: readonly string[]): Promise<void>;
}): Handler<"forgetRecordings"> {
  return async ({ ownerId, conversationIds }) => {
    const ids = conversationIds.filter(isUuid);
    await ctx.remove(ownerId, ids);
    await forgetEndedCalls(ctx.db, ownerId, ids);
    return {};
  };
}
