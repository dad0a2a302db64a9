import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import type { AccountContext, Handler } from "../context.ts";
import { checkCarrier, checkMobileNumber } from "../mobile-number.ts";
import { countNumbers, findNumberOwner, insertNumber, lockNumber, type NumberRow } from "../store/mobile-numbers.ts";
import { lockOwner } from "../store/owners.ts";

/** Limit per owner: they are listed without pages, and each number can belong to only one owner. */
const NUMBERS_MAX = 1_000;

/** A number belongs to one owner, or a call to it could not be attributed. */
export function addMobileNumber(ctx: AccountContext): Handler<"addMobileNumber"> {
  return async ({ ownerId, mobileNumber: given }) => {
    const { mobileNumber, telephonyProvider } = given ?? { mobileNumber: "", telephonyProvider: "" };
    checkMobileNumber(mobileNumber);
    checkCarrier(telephonyProvider);
    await ctx.db.begin(async (tx) => {
      await lockOwner(tx, ownerId);
      await requireFreeNumber(tx, ownerId, mobileNumber, null);
      await requireRoomForNumber(tx, ownerId);
      const row = { ownerId, mobileNumber, telephonyProvider, carrierId: null, before: null };
      await insertNumber(tx, row, ctx.clock.now());
    });
    return { mobileNumber: { mobileNumber, telephonyProvider } };
  };
}

/**
 * Keeps the number for this owner until the transaction ends.
 * @param known the owner's own row, which is to be replaced
 * @throws ServiceError conflict
 */
export async function requireFreeNumber(
  tx: Sql,
  ownerId: string,
  mobileNumber: string,
  known: NumberRow | null,
): Promise<void> {
  await lockNumber(tx, mobileNumber);
  const holder = await findNumberOwner(tx, mobileNumber);
  if (holder === null || (holder === ownerId && known !== null)) return;
  const whose = holder === ownerId ? "already belongs to this owner" : "belongs to another owner";
  throw new ServiceError("conflict", `mobile_number ${mobileNumber} ${whose}`);
}

/** @throws ServiceError conflict */
export async function requireRoomForNumber(tx: Sql, ownerId: string): Promise<void> {
  if ((await countNumbers(tx, ownerId)) >= NUMBERS_MAX)
    throw new ServiceError("conflict", `There are ${NUMBERS_MAX} phone numbers already: remove one first`);
}
