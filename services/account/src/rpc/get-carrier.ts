import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import { getCarrier as getCarrierRow } from "../store/carriers.ts";

export function getCarrier(ctx: AccountContext): Handler<"getCarrier"> {
  return async (key) => ({ carrier: toCarrier(await getCarrierRow(ctx.db, key)) });
}
