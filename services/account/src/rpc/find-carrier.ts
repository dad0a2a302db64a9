import { isId } from "@parley/shared/ids";
import type { AccountContext, Handler } from "../context.ts";
import { findCarrierOwner } from "../store/carriers.ts";

/** For a provider's callback, which has the carrier's id and no owner. */
export function findCarrier(ctx: AccountContext): Handler<"findCarrier"> {
  return async ({ carrierId }) => {
    const found = isId("car", carrierId) ? await findCarrierOwner(ctx.db, carrierId) : null;
    return { carrier: found ? { ...found, settings: undefined } : undefined };
  };
}
