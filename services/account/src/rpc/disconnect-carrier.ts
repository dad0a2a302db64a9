import { notFound, ServiceError } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import type { AccountContext, Handler } from "../context.ts";
import { deleteUnneededCarriers, getCarrier, markDisconnected } from "../store/carriers.ts";
import { countNumbersOf } from "../store/mobile-numbers.ts";
import { lockOwner } from "../store/owners.ts";

/** The credentials are deleted at once, or when the last removed number has its earlier settings back. */
export function disconnectCarrier(ctx: AccountContext): Handler<"disconnectCarrier"> {
  return async ({ ownerId, carrierId }) => {
    if (!isId("car", carrierId)) throw notFound("Carrier");
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      await getCarrier(tx, { ownerId, carrierId });
      const numbers = await countNumbersOf(tx, ownerId, carrierId);
      if (numbers > 0)
        throw new ServiceError(
          "conflict",
          numbers === 1
            ? "A phone number was imported from this carrier: remove it first"
            : `${numbers} phone numbers were imported from this carrier: remove them first`,
        );
      await markDisconnected(tx, { ownerId, carrierId }, ctx.clock.now());
      await deleteUnneededCarriers(tx, ownerId);
    });
    return {};
  };
}
