import type { AccountContext, Handler } from "../context.ts";
import { toGrant } from "../convert.ts";
import { checkDigest } from "../digest.ts";
import { findGrant } from "../store/api-keys.ts";

/** Returns a grant also for an inactive or expired key, with that status, but none for a deleted key or a deleted owner's. */
export function authenticateKey(ctx: AccountContext): Handler<"authenticateKey"> {
  return async ({ digest }) => {
    checkDigest(digest);
    const row = await findGrant(ctx.db, digest);
    return { grant: row ? toGrant(row, ctx.clock.now()) : undefined };
  };
}
