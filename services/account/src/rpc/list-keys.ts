import type { AccountContext, Handler } from "../context.ts";
import { toApiKey } from "../convert.ts";
import { listKeys as listKeyRows } from "../store/api-keys.ts";
import { getOwner } from "../store/owners.ts";

/** Newest first. */
export function listKeys(ctx: AccountContext): Handler<"listKeys"> {
  return async ({ ownerId }) => {
    await getOwner(ctx.db, ownerId);
    const now = ctx.clock.now();
    const rows = await listKeyRows(ctx.db, ownerId);
    return { keys: rows.map((row) => toApiKey(row, now)) };
  };
}
