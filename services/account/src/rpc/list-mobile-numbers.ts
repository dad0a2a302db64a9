import type { AccountContext, Handler } from "../context.ts";
import { toMobileNumber } from "../convert.ts";
import { listNumbers } from "../store/mobile-numbers.ts";
import { getOwner } from "../store/owners.ts";

/** Oldest first. */
export function listMobileNumbers(ctx: AccountContext): Handler<"listMobileNumbers"> {
  return async ({ ownerId }) => {
    await getOwner(ctx.db, ownerId);
    const rows = await listNumbers(ctx.db, ownerId);
    return { mobileNumbers: rows.map(toMobileNumber) };
  };
}
