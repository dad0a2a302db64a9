import { notFound } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import { findEvenDisconnected, getCarrier } from "../store/carriers.ts";

/** For the services that call the provider. */
export function getCarrierCredentials(ctx: AccountContext): Handler<"getCarrierCredentials"> {
  return async ({ evenDisconnected, ...key }) => {
    const row = evenDisconnected ? await findEvenDisconnected(ctx.db, key) : await getCarrier(ctx.db, key);
    if (!row) throw notFound("Carrier");
    return { carrier: toCarrier({ ...row, settings: ctx.carriers.settings(row) }) };
  };
}
