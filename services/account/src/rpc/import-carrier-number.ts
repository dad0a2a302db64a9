import type { Sql } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { asking } from "../carriers/accounts.ts";
import { promiseRestore } from "../carriers/restore-numbers.ts";
import { claimNumber } from "../claim-number.ts";
import type { AccountContext, Handler } from "../context.ts";
import { toMobileNumber } from "../convert.ts";
import { checkMobileNumber } from "../mobile-number.ts";
import { type CarrierRow, getCarrier } from "../store/carriers.ts";
import { deleteNumber, findNumber, type NumberRow, type NumberSettings } from "../store/mobile-numbers.ts";
import { takeRestore } from "../store/number-restores.ts";
import { lockOwner } from "../store/owners.ts";

/**
 * Stores the number with its settings at the carrier before the carrier is told, so that these are never lost. If a process dies between
 * the two, importing the number again points it here.
 */
export function importCarrierNumber(ctx: AccountContext): Handler<"importCarrierNumber"> {
  return async ({ ownerId, carrierId, mobileNumber }, call) => {
    checkMobileNumber(mobileNumber);
    const carrier = await getCarrier(ctx.db, { ownerId, carrierId });
    const { numbers } = ctx.carriers.open(carrier);
    if (!numbers) throw new ServiceError("condition", `${carrier.provider} has no phone numbers to import`);
    if (carrier.provider !== "SIP") ctx.carriers.requirePublicUrl();
    const before = await asking(numbers.find(mobileNumber, call.signal));
    if (!before) throw notFound(`${mobileNumber} in the ${carrier.provider} account`);
    const { row, isNew } = await ctx.db.begin((tx) => store(ctx, tx, { carrier, mobileNumber, before }));
    try {
      await asking(numbers.point(mobileNumber, call.signal));
    } catch (error) {
      // The carrier may still have changed the number.
      if (isNew) await ctx.db.begin((tx) => undo(ctx, tx, row));
      throw error;
    }
    return { mobileNumber: toMobileNumber(row) };
  };
}

interface Import {
  carrier: CarrierRow;
  mobileNumber: string;
  before: NumberSettings;
}

async function store(
  ctx: AccountContext,
  tx: Sql,
  { carrier, mobileNumber, before }: Import,
): Promise<{ row: NumberRow; isNew: boolean }> {
  const { ownerId, carrierId, provider } = carrier;
  await lockOwner(tx, ownerId);
  // It may have been disconnected in the meantime.
  await getCarrier(tx, carrier);
  const known = await findNumber(tx, ownerId, mobileNumber);
  if (known?.carrierId === carrierId && known.replacedAt === null) return { row: known, isNew: false };
  const pending = await takeRestore(tx, ownerId, mobileNumber);
  const claim = {
    ownerId,
    mobileNumber,
    telephonyProvider: provider,
    carrierId,
    before: pending?.carrierId === carrierId ? pending.before : before,
    // A trunk has whatever numbers its owner says.
    proof: provider === "SIP" ? null : ("CARRIER" as const),
  };
  return { row: await claimNumber(tx, claim, { now: ctx.clock.now(), log: ctx.log }), isNew: true };
}

async function undo(ctx: AccountContext, tx: Sql, { ownerId, mobileNumber }: NumberRow): Promise<void> {
  await lockOwner(tx, ownerId);
  const removed = await deleteNumber(tx, ownerId, mobileNumber);
  if (removed) await promiseRestore(tx, removed, ctx.clock.now());
}
