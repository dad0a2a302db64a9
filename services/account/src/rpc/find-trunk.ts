import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import { isMobileNumber } from "../mobile-number.ts";
import { findTrunkOfNumber } from "../store/carriers.ts";

/** For a call that comes in over SIP: whose it is follows from the number, and its source is checked with the trunk's settings. */
export function findTrunk(ctx: AccountContext): Handler<"findTrunk"> {
  return async ({ mobileNumber }) => {
    const row = isMobileNumber(mobileNumber) ? await findTrunkOfNumber(ctx.db, mobileNumber) : null;
    return { carrier: row ? toCarrier({ ...row, settings: ctx.carriers.settings(row) }) : undefined };
  };
}
