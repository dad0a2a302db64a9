import { invalid } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { toGrant } from "../convert.ts";
import { findGrant } from "../store/api-keys.ts";

const DIGEST_BYTES = 32;

/** An inactive or expired key has a grant that says so; a deleted one and a deleted owner's have none. */
export function authenticateKey(ctx: AccountContext): Handler<"authenticateKey"> {
  return async ({ digest }) => {
    if (digest.length !== DIGEST_BYTES) throw invalid("digest", `digest must be ${DIGEST_BYTES} bytes`);
    const row = await findGrant(ctx.db, digest);
    return { grant: row ? toGrant(row, ctx.clock.now()) : undefined };
  };
}
