import { ServiceError } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { checkCarrier, checkMobileNumber } from "../mobile-number.ts";
import { countNumbers, findNumberOwner, insertNumber, lockNumber } from "../store/mobile-numbers.ts";
import { lockOwner } from "../store/owners.ts";

/** Limit per owner: they are listed without pages, and each number can belong to only one owner. */
const NUMBERS_MAX = 1_000;

/** A number belongs to one owner, or a call to it could not be attributed. */
export function addMobileNumber(ctx: AccountContext): Handler<"addMobileNumber"> {
  return async ({ ownerId, mobileNumber: given }) => {
    const { mobileNumber, telephonyProvider } = given ?? { mobileNumber: "", telephonyProvider: "" };
    checkMobileNumber(mobileNumber);
    checkCarrier(telephonyProvider);
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      await lockNumber(tx, mobileNumber);
      const holder = await findNumberOwner(tx, mobileNumber);
      if (holder !== null) {
        const whose = holder === ownerId ? "already this owner's" : "another owner's";
        throw new ServiceError("conflict", `mobile_number ${mobileNumber} is ${whose}`);
      }
      if ((await countNumbers(tx, ownerId)) >= NUMBERS_MAX)
        throw new ServiceError("conflict", `There are ${NUMBERS_MAX} phone numbers already: remove one first`);
      await insertNumber(tx, { ownerId, mobileNumber, telephonyProvider }, ctx.clock.now());
    });
    return { mobileNumber: { mobileNumber, telephonyProvider } };
  };
}
