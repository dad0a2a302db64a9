import type { AccountContext, Handler } from "../context.ts";
import { toOwner } from "../convert.ts";
import { getOwner as getOwnerRow } from "../store/owners.ts";

export function getOwner(ctx: AccountContext): Handler<"getOwner"> {
  return async ({ ownerId }) => ({ owner: toOwner(await getOwnerRow(ctx.db, ownerId)) });
}
