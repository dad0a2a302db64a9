import { notFound } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { checkMobileNumber } from "../mobile-number.ts";
import { deleteNumber } from "../store/mobile-numbers.ts";
import { getOwner } from "../store/owners.ts";

export function removeMobileNumber(ctx: AccountContext): Handler<"removeMobileNumber"> {
  return async ({ ownerId, mobileNumber }) => {
    checkMobileNumber(mobileNumber);
    await getOwner(ctx.db, ownerId);
    if (!(await deleteNumber(ctx.db, ownerId, mobileNumber))) throw notFound("Mobile number");
    return {};
  };
}
