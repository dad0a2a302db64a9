import { invalid } from "@parley/shared/errors";
import { keysExpiredAt, refuseOtherRequest, takeKey } from "@parley/shared/idempotency/keys";
import type { AccountContext, Handler } from "../context.ts";
import { findClaim, IDEMPOTENCY_CLAIMS } from "../store/idempotency-claims.ts";

/** Binds a key to one request for 24 hours, even if that request fails. */
export function claimIdempotencyKey({ db, clock }: AccountContext): Handler<"claimIdempotencyKey"> {
  return async ({ ownerId, idempotency }) => {
    if (!idempotency) throw invalid("idempotency", "idempotency is required");
    const now = clock.now();
    const id = { ownerId, key: idempotency.key };
    if (await takeKey(db, IDEMPOTENCY_CLAIMS, id, idempotency.fingerprint, now)) return {};
    const taken = await findClaim(db, id, keysExpiredAt(now));
    if (taken) refuseOtherRequest(taken, idempotency.fingerprint);
    return {};
  };
}
