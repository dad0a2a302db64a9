import type { AccountContext, Handler } from "../context.ts";
import { toGrant } from "../convert.ts";
import { checkDigest } from "../digest.ts";
import { findGrant } from "../store/api-keys.ts";

/** An inactive or expired key has a grant that says so; a deleted one and a deleted owner's have none. */
export function authenticateKey(ctx: AccountContext): Handler<"authenticateKey"> {
  return async ({ digest }) => {
    checkDigest(digest);
    const row = await findGrant(ctx.db, digest);
    return { grant: row ? toGrant(row, ctx.clock.now()) : undefined };
  };
}
