import { CARRIER_PROVIDERS, isCarrierProvider } from "@parley/shared/domain/carriers";
import { invalid, ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { asking } from "../carriers/accounts.ts";
import { accountOf, checkedSettings } from "../carriers/settings.ts";
import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import { type CarrierRow, countCarriers, findByAccount, insertCarrier, replaceCredentials } from "../store/carriers.ts";
import { getOwner, lockOwner } from "../store/owners.ts";

/** Limit per owner: they are listed without pages. */
const CARRIERS_MAX = 100;

export function connectCarrier(ctx: AccountContext): Handler<"connectCarrier"> {
  return async ({ ownerId, provider, settings: given }, call) => {
    if (!isCarrierProvider(provider))
      throw invalid("provider", `provider must be one of ${Object.keys(CARRIER_PROVIDERS).join(", ")}`);
    const settings = checkedSettings(provider, given ?? { allowedAddresses: [] });
    await getOwner(ctx.db, ownerId);
    const account = accountOf(provider, settings);
    const fresh = { ownerId, provider, account, carrierId: newId("car") };
    await asking(ctx.carriers.account(fresh, settings).verify(call.signal));
    const row = await ctx.db.begin(async (tx): Promise<CarrierRow> => {
      await lockOwner(tx, ownerId);
      const known = await findByAccount(tx, fresh);
      if (known) {
        const replaced = { ...known, ...ctx.carriers.seal(known, settings) };
        await replaceCredentials(tx, replaced);
        return replaced;
      }
      if ((await countCarriers(tx, ownerId)) >= CARRIERS_MAX)
        throw new ServiceError("conflict", `There are ${CARRIERS_MAX} carriers already: disconnect one first`);
      const created = { ...fresh, ...ctx.carriers.seal(fresh, settings), createdAt: ctx.clock.now() };
      await insertCarrier(tx, created);
      return created;
    });
    return { carrier: toCarrier(row) };
  };
}
