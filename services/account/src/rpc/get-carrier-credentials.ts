import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import { getCarrier } from "../store/carriers.ts";

/** For the services that call the provider. */
export function getCarrierCredentials(ctx: AccountContext): Handler<"getCarrierCredentials"> {
  return async (key) => {
    const row = await getCarrier(ctx.db, key);
    return { carrier: toCarrier({ ...row, settings: ctx.carriers.settings(row) }) };
  };
}
