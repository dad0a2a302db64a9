import { ServiceError } from "@parley/shared/errors";
import { asking } from "../carriers/accounts.ts";
import type { AccountContext, Handler } from "../context.ts";
import { getCarrier } from "../store/carriers.ts";
import { listNumbers } from "../store/mobile-numbers.ts";

export function listCarrierNumbers(ctx: AccountContext): Handler<"listCarrierNumbers"> {
  return async ({ ownerId, carrierId }, call) => {
    const row = await getCarrier(ctx.db, { ownerId, carrierId });
    const { numbers } = ctx.carriers.open(row);
    if (!numbers) throw new ServiceError("condition", `${row.provider} has no phone numbers to import`);
    const [listed, known] = await Promise.all([asking(numbers.list(call.signal)), listNumbers(ctx.db, ownerId)]);
    const imported = new Set(known.filter((one) => one.carrierId === carrierId).map((one) => one.mobileNumber));
    return { numbers: listed.map((number) => ({ ...number, imported: imported.has(number.mobileNumber) })) };
  };
}
