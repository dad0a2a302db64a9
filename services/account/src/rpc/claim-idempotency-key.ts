import { isSure } from "@parley/shared/clock";
import { invalid } from "@parley/shared/errors";
import { KEPT_MS, usedOtherwise } from "@parley/shared/idempotency/run";
import type { AccountContext, Handler } from "../context.ts";
import { claimKey, deleteExpiredClaims } from "../store/idempotency-claims.ts";

/** Binds a key to one request for 24 hours, even if that request fails. */
export function claimIdempotencyKey(ctx: AccountContext): Handler<"claimIdempotencyKey"> {
  return async ({ ownerId, idempotency }) => {
    if (!idempotency) throw invalid("idempotency", "idempotency is required");
    const now = ctx.clock.now();
    const expiredAt = new Date(now.getTime() - KEPT_MS);
    if (isSure(ctx.clock)) await deleteExpiredClaims(ctx.db, expiredAt);
    const isOurs = await claimKey(ctx.db, { ownerId, ...idempotency }, now, expiredAt);
    if (!isOurs) throw usedOtherwise();
    return {};
  };
}
