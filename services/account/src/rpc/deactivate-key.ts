import type { AccountContext, Handler } from "../context.ts";
import { toApiKey } from "../convert.ts";
import { changeKey } from "../keys/change-key.ts";
import { setKeyActive } from "../store/api-keys.ts";

/** Succeeds for a key that is already inactive. */
export function deactivateKey(ctx: AccountContext): Handler<"deactivateKey"> {
  return async (request) => {
    const row = await changeKey(ctx, request, (tx, key) => setKeyActive(tx, key, false));
    return { key: toApiKey({ ...row, active: false }, ctx.clock.now()) };
  };
}
