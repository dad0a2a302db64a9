import type { AccountContext, Handler } from "../context.ts";
import { toApiKey } from "../convert.ts";
import { changeKey } from "../keys/change-key.ts";
import { checkActivation } from "../keys/key-state.ts";
import { setKeyActive } from "../store/api-keys.ts";

/** Succeeds for a key that is already active. An expired key cannot be activated. */
export function activateKey(ctx: AccountContext): Handler<"activateKey"> {
  return async (request) => {
    const now = ctx.clock.now();
    const row = await changeKey(ctx, request, async (tx, key) => {
      checkActivation(key, now);
      await setKeyActive(tx, key, true);
    });
    return { key: toApiKey({ ...row, active: true }, now) };
  };
}
