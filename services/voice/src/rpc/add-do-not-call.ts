import type { Sql } from "@parley/shared/db/database";
import { invalid, ServiceError } from "@parley/shared/errors";
import { E164 } from "@parley/shared/phone/e164";
import type { Handler } from "../feature.ts";
import type { OutboundContext } from "../outbound/context.ts";
import { type DoNotCallRow, findDoNotCallTotal, findListed, insertDoNotCall } from "../store/do-not-call.ts";

const NUMBERS_MAX = 1_000_000;

/** @param numbersMax numbers that the list of an owner may have */
export function addDoNotCall(
  ctx: Pick<OutboundContext, "db" | "clock">,
  numbersMax = NUMBERS_MAX,
): Handler<"addDoNotCall"> {
  return async ({ ownerId, mobileNumber }) => {
    if (!E164.test(mobileNumber))
      throw invalid("mobile_number", "mobile_number must be a phone number in E.164 form, such as +14155550123");
    const listed = await findListed(ctx.db, ownerId, mobileNumber);
    if (listed) return { number: listed };
    const number = { mobileNumber, createdAt: ctx.clock.now() };
    await ctx.db.begin((tx) => insertWithin(tx, ownerId, number, numbersMax));
    // The time of somebody who added it at the same moment may be another one.
    return { number: (await findListed(ctx.db, ownerId, mobileNumber)) ?? number };
  };
}

/** Those who add to one list take turns until their transactions end, so they do not exceed the limit together. */
async function insertWithin(tx: Sql, ownerId: string, number: DoNotCallRow, numbersMax: number): Promise<void> {
  const isNew = await insertDoNotCall(tx, ownerId, number);
  if (isNew && (await findDoNotCallTotal(tx, ownerId)) > numbersMax)
    throw new ServiceError(
      "condition",
      `The do-not-call list has ${numbersMax} numbers, which is its limit: remove one first`,
    );
}
