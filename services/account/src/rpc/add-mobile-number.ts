import { ServiceError } from "@parley/shared/errors";
import { claimNumber } from "../claim-number.ts";
import type { AccountContext, Handler } from "../context.ts";
import { checkCarrier, checkMobileNumber } from "../mobile-number.ts";
import { findNumber } from "../store/mobile-numbers.ts";
import { lockOwner } from "../store/owners.ts";

/** A number that is only added proves nothing. */
export function addMobileNumber(ctx: AccountContext): Handler<"addMobileNumber"> {
  return async ({ ownerId, mobileNumber: given }) => {
    const { mobileNumber, telephonyProvider } = given ?? { mobileNumber: "", telephonyProvider: "" };
    checkMobileNumber(mobileNumber);
    checkCarrier(telephonyProvider);
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      const known = await findNumber(tx, ownerId, mobileNumber);
      if (known?.replacedAt === null)
        throw new ServiceError("conflict", `mobile_number ${mobileNumber} already belongs to this owner`);
      const claim = { ownerId, mobileNumber, telephonyProvider, carrierId: null, before: null, proof: null };
      await claimNumber(tx, claim, { now: ctx.clock.now(), log: ctx.log });
    });
    return { mobileNumber: { mobileNumber, telephonyProvider } };
  };
}
