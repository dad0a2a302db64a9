import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import { checkMobileNumber } from "../mobile-number.ts";
import { getCarrier } from "../store/carriers.ts";
import { findNumber } from "../store/mobile-numbers.ts";

export function findCarrierOfNumber(ctx: AccountContext): Handler<"findCarrierOfNumber"> {
  return async ({ ownerId, mobileNumber }) => {
    checkMobileNumber(mobileNumber);
    const number = await findNumber(ctx.db, ownerId, mobileNumber);
    if (!number?.carrierId || number.replacedAt !== null) return { carrier: undefined };
    const row = await getCarrier(ctx.db, { ownerId, carrierId: number.carrierId });
    return { carrier: { ...toCarrier(row), settings: undefined } };
  };
}
