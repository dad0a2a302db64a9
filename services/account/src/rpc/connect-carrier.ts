import type { CarrierSettings } from "@parley/proto/parley/account/v1/account.ts";
import type { Sql } from "@parley/shared/db/database";
import { CARRIER_PROVIDERS, isCarrierProvider } from "@parley/shared/domain/carriers";
import { invalid, ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { asking } from "../carriers/accounts.ts";
import { accountOf, checkedSettings } from "../carriers/settings.ts";
import { sharedBy } from "../carriers/shared-addresses.ts";
import type { AccountContext, Handler } from "../context.ts";
import { toCarrier } from "../convert.ts";
import {
  type CarrierRow,
  countCarriers,
  findByAccount,
  insertCarrier,
  lockTrunksOfOthers,
  replaceCredentials,
  storeSharesAddress,
} from "../store/carriers.ts";
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
      const shares = provider === "SIP" && (await sharesAddressOfOthers(tx, ownerId, settings));
      const row = await store(ctx, tx, fresh, settings);
      if (provider === "SIP") await storeSharesAddress(tx, row, shares);
      return row;
    });
    return { carrier: toCarrier(row) };
  };
}

type Fresh = Pick<CarrierRow, "ownerId" | "provider" | "account" | "carrierId">;

async function store(ctx: AccountContext, tx: Sql, fresh: Fresh, settings: CarrierSettings): Promise<CarrierRow> {
  const known = await findByAccount(tx, fresh);
  if (known) {
    const replaced = { ...known, ...ctx.carriers.seal(known, settings) };
    await replaceCredentials(tx, replaced);
    return replaced;
  }
  if ((await countCarriers(tx, fresh.ownerId)) >= CARRIERS_MAX)
    throw new ServiceError("conflict", `There are ${CARRIERS_MAX} carriers already: disconnect one first`);
  const created = { ...fresh, ...ctx.carriers.seal(fresh, settings), createdAt: ctx.clock.now() };
  await insertCarrier(tx, created);
  return created;
}

/**
 * Whether calls of the trunk may come from an address of another owner's trunk.
 * @throws ServiceError conflict if the trunk cannot tell whose call it is
 */
async function sharesAddressOfOthers(tx: Sql, ownerId: string, settings: CarrierSettings): Promise<boolean> {
  const shared = (await lockTrunksOfOthers(tx, ownerId)).map((other) => sharedBy(settings, other));
  const canAuthenticate = Boolean(settings.username && settings.password);
  if (canAuthenticate || !shared.includes("address")) return shared.some((each) => each !== null);
  throw new ServiceError(
    "conflict",
    "Another owner has a trunk with an address of this one: give a username and a password, with which your trunk authenticates its calls",
  );
}
