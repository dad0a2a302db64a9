import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import { listCarriers as listCarrierRows } from "../store/carriers.ts";
import { getOwner } from "../store/owners.ts";

/** Oldest first. */
export function listCarriers(ctx: AccountContext): Handler<"listCarriers"> {
  return async ({ ownerId }) => {
    await getOwner(ctx.db, ownerId);
    return { carriers: (await listCarrierRows(ctx.db, ownerId)).map(toCarrier) };
  };
}
