import type { CallPolicy } from "@parley/proto/parley/account/v1/account.ts";
import type { Sql } from "@parley/shared/db/database";
import { parsePhoneNumberFromString } from "libphonenumber-js/max";
import metadata from "libphonenumber-js/metadata.max.json";
import type { AccountContext, Handler } from "../context.ts";
import { findCallPolicy } from "../store/call-policies.ts";
import { listNumbers } from "../store/mobile-numbers.ts";
import { getOwner } from "../store/owners.ts";

export function getCallPolicy(ctx: AccountContext): Handler<"getCallPolicy"> {
  return async ({ ownerId }) => {
    await getOwner(ctx.db, ownerId);
    return { policy: await callPolicyOf(ctx, ctx.db, ownerId) };
  };
}

/** The owner's policy, with the defaults that apply. */
export async function callPolicyOf(
  { callDefaults }: Pick<AccountContext, "callDefaults">,
  sql: Sql,
  ownerId: string,
): Promise<CallPolicy> {
  const { countries, callsPerDay, minutesPerDay } = await findCallPolicy(sql, ownerId);
  return {
    countries: countries ?? (await countriesOfNumbers(sql, ownerId)),
    callsPerDay: callsPerDay ?? callDefaults.callsPerDay,
    minutesPerDay: minutesPerDay ?? callDefaults.minutesPerDay,
  };
}

/** Those of the numbers that agents can call from, and the main one of each calling code: the US for +1, Great Britain for +44. */
async function countriesOfNumbers(sql: Sql, ownerId: string): Promise<string[]> {
  const numbers = await listNumbers(sql, ownerId);
  const own = numbers.filter(({ carrierId, replacedAt }) => carrierId !== null && replacedAt === null);
  const countries = own.flatMap(({ mobileNumber }) => {
    const number = parsePhoneNumberFromString(mobileNumber);
    return number ? [...mainCountryOf(number.countryCallingCode), ...(number.country ? [number.country] : [])] : [];
  });
  return [...new Set(countries)].toSorted();
}

function mainCountryOf(callingCode: string): string[] {
  const main = metadata.country_calling_codes[callingCode as keyof typeof metadata.country_calling_codes]?.[0];
  return main ? [main] : [];
}
