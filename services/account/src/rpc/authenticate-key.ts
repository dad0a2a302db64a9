import { KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountContext, Handler } from "../context.ts";
import { toGrant } from "../convert.ts";
import { checkDigest } from "../digest.ts";
import { isUseNews } from "../last-use.ts";
import { findGrant, noteKeyUse } from "../store/api-keys.ts";

/**
 * Returns a grant also for an inactive or expired key, with that status, but none for a deleted key or a deleted owner's. Notes the use
 * of a key that works: a gateway asks for it again at least every 30 seconds while it is used.
 */
export function authenticateKey(ctx: AccountContext): Handler<"authenticateKey"> {
  return async ({ digest }) => {
    checkDigest(digest);
    const row = await findGrant(ctx.db, digest);
    if (!row) return { grant: undefined };
    const now = ctx.clock.now();
    const grant = toGrant(row, now);
    if (grant.status === KeyStatus.KEY_STATUS_ACTIVE && isUseNews(row.lastUsedAt, now))
      await noteKeyUse(ctx.db, row, now);
    return { grant };
  };
}
