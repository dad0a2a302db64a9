import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import { isMobileNumber } from "../mobile-number.ts";
import { findTrunkOfNumber } from "../store/carriers.ts";

/** For an incoming SIP call: the number tells the owner, and the trunk's settings tell which sources are allowed. */
export function findTrunk(ctx: AccountContext): Handler<"findTrunk"> {
  return async ({ mobileNumber }) => {
    const row = isMobileNumber(mobileNumber) ? await findTrunkOfNumber(ctx.db, mobileNumber) : null;
    if (!row) return { carrier: undefined };
    const carrier = toCarrier({ ...row, settings: ctx.carriers.settings(row) });
    return { carrier, ...(row.needsDigest && { needsDigest: true }) };
  };
}
