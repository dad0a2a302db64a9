import type { Sql } from "@parley/shared/db/database";
import { claimNumber } from "../claim-number.ts";
import type { AccountContext, Handler } from "../context.ts";
import { toMobileNumber } from "../convert.ts";
import { checkMobileNumber } from "../mobile-number.ts";
import { findNumber, type NumberRow, type Proof } from "../store/mobile-numbers.ts";
import { lockOwner } from "../store/owners.ts";

export function proveMobileNumber(ctx: AccountContext): Handler<"proveMobileNumber"> {
  return async ({ ownerId, mobileNumber }) => {
    checkMobileNumber(mobileNumber);
    return { mobileNumber: toMobileNumber(await proveNumber(ctx, { ownerId, mobileNumber }, "OPERATOR")) };
  };
}

/**
 * A number that the owner has not imported yet is kept for the import.
 * @param also what is written with the proof
 */
export async function proveNumber(
  ctx: AccountContext,
  { ownerId, mobileNumber }: Pick<NumberRow, "ownerId" | "mobileNumber">,
  proof: Proof,
  also: (tx: Sql) => Promise<void> = async () => {},
): Promise<NumberRow> {
  return ctx.db.begin(async (tx) => {
    await lockOwner(tx, ownerId);
    await also(tx);
    const known = await findNumber(tx, ownerId, mobileNumber);
    const { telephonyProvider, carrierId, before } = known ?? {
      telephonyProvider: "SIP",
      carrierId: null,
      before: null,
    };
    const claim = { ownerId, mobileNumber, telephonyProvider, carrierId, before, proof };
    return claimNumber(tx, claim, { now: ctx.clock.now(), log: ctx.log });
  });
}
