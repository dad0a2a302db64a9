import { notFound } from "@parley/shared/errors";
import { promiseRestore } from "../carriers/restore-numbers.ts";
import type { AccountContext, Handler } from "../context.ts";
import { checkMobileNumber } from "../mobile-number.ts";
import { deleteNumber, rememberRemoved } from "../store/mobile-numbers.ts";
import { lockOwner } from "../store/owners.ts";

/** Does not wait for the carrier of an imported number: a job restores the number's earlier settings. */
export function removeMobileNumber(ctx: AccountContext): Handler<"removeMobileNumber"> {
  return async ({ ownerId, mobileNumber }) => {
    checkMobileNumber(mobileNumber);
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      const removed = await deleteNumber(tx, ownerId, mobileNumber);
      if (!removed) throw notFound("Mobile number");
      const now = ctx.clock.now();
      await rememberRemoved(tx, removed, now);
      await promiseRestore(tx, removed, now);
    });
    return {};
  };
}
